import type { StreamSpec } from '@tollgate/contracts'
import {
  DiscardPolicy,
  type JetStreamManager,
  NatsError,
  nanos,
  RetentionPolicy,
  StorageType,
  type StreamConfig,
} from 'nats'

const STREAM_NOT_FOUND = 10059

/** Creates the stream, or brings its settings up to date. Safe to call from several processes at once. */
export async function ensureStream(manager: JetStreamManager, spec: StreamSpec): Promise<void> {
  const wanted = configOf(spec)
  try {
    const { config } = await manager.streams.info(spec.name)
    if (differs(config, wanted)) await manager.streams.update(spec.name, wanted)
  } catch (error) {
    if (!hasApiCode(error, STREAM_NOT_FOUND)) throw error
    await manager.streams.add({ name: spec.name, ...wanted }).catch(unlessCreated(manager, spec))
  }
}

function hasApiCode(error: unknown, code: number): error is NatsError {
  return error instanceof NatsError && error.api_error?.err_code === code
}

/**
 * Another process created it first, with the same settings, since both have them from the contracts. The server says so in
 * several ways (the name is in use, the subjects overlap), so the stream itself is looked for.
 */
function unlessCreated(manager: JetStreamManager, spec: StreamSpec) {
  return async (error: unknown): Promise<void> => {
    await manager.streams.info(spec.name).catch(() => {
      throw error
    })
  }
}

function configOf(spec: StreamSpec): Partial<StreamConfig> {
  return {
    subjects: [...spec.subjects],
    storage: spec.storage === 'file' ? StorageType.File : StorageType.Memory,
    retention: spec.retention === 'workqueue' ? RetentionPolicy.Workqueue : RetentionPolicy.Limits,
    max_age: nanos(spec.maxAgeMs),
    duplicate_window: nanos(spec.duplicateWindowMs),
    num_replicas: 1,
    ...(spec.maxPerSubject !== undefined && {
      max_msgs_per_subject: spec.maxPerSubject,
      discard: DiscardPolicy.New,
      discard_new_per_subject: true,
    }),
  }
}

function differs(actual: Partial<StreamConfig>, wanted: Partial<StreamConfig>): boolean {
  return (['max_age', 'max_msgs_per_subject', 'duplicate_window'] as const).some(
    field => wanted[field] !== undefined && actual[field] !== wanted[field],
  )
}
