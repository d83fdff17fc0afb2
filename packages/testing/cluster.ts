import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { clusterReady, type Home, postmasterPid, prepareCluster, startCluster, testHome } from '@tollgate/postgres'
import { freePort } from '@tollgate/process'

export interface OwnCluster {
  adminUrl: string
  restart(options?: { immediate?: boolean }): Promise<void>
  stop(): Promise<void>
}

/** A Postgres on a free port with throw-away data. It ends with this process, however that ends. */
export async function startOwnCluster(): Promise<OwnCluster> {
  const binariesHome = testHome()
  const home: Home = { ...binariesHome, folder: mkdtempSync(join(binariesHome.folder, 'tollgate-postgres-')) }
  const cluster = await prepareCluster({
    home,
    binariesHome,
    port: freePort(),
    password: 'test',
    logFile: join(home.folder, 'log'),
    durability: 'throwaway',
  })
  let running = await startCluster(cluster)
  await clusterReady(cluster, running)
  return {
    adminUrl: cluster.adminUrl,
    async restart({ immediate = false } = {}) {
      // By its pid: when the guardian's pipe closes, the data go as well.
      const pid = postmasterPid(cluster.data)
      if (pid && running.alive()) process.kill(pid, immediate ? 'SIGQUIT' : 'SIGINT')
      await running.exited
      running = await startCluster(cluster)
      await clusterReady(cluster, running)
    },
    async stop() {
      await running.stop()
      rmSync(home.folder, { recursive: true, force: true })
    },
  }
}
