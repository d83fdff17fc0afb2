import { join } from 'node:path'
import { type AnotherRouter, startAnotherRouter } from '@tollgate/local'
import type { Stack } from '../targets/stack.ts'

export function startSecondRouter({ gateway, localDir }: Stack): Promise<AnotherRouter> {
  const first = gateway.services.router?.[0]
  if (!first) throw new Error('the stack has no router')
  return startAnotherRouter(first.pid, join(localDir, 'logs', 'router-2.log'))
}
