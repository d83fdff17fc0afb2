import { UpstreamFailure } from './failure.ts'

/** What a request asks for is nothing that this kind of provider can do: the caller gets 400 with this message. */
export function refused(message: string): UpstreamFailure {
  return new UpstreamFailure('refused', message)
}
