import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { clusterReady, postmasterPid, prepareCluster, provision, startCluster, testHome } from '@tollgate/postgres'
import { freePort } from '@tollgate/process'

/** A Postgres as in production, which flushes before it acknowledges; its data go at the end. */
export async function durablePostgres() {
  const binariesHome = testHome()
  const folder = mkdtempSync(join(binariesHome.folder, 'tollgate-postgres-'))
  const cluster = await prepareCluster({
    home: { ...binariesHome, folder },
    binariesHome,
    port: freePort(),
    password: 'bench',
    logFile: join(folder, 'log'),
    durability: 'durable',
  })
  let running = await startCluster(cluster)
  await clusterReady(cluster, running)
  const urls = await provision({ adminUrl: cluster.adminUrl, secret: 'bench', services: ['ledger'] })
  return {
    adminUrl: cluster.adminUrl,
    urls,
    /** Crashes Postgres (no checkpoint, everybody cut off) and starts it again at once. */
    async crash() {
      const pid = postmasterPid(cluster.data)
      if (pid) process.kill(pid, 'SIGQUIT')
      await running.exited
      running = await startCluster(cluster)
      await clusterReady(cluster, running)
    },
    async stop() {
      await running.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
