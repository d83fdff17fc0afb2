import OpenAI from 'openai'
import { request } from './api.ts'
import type { Gateway } from './gateway.ts'

export interface Balance {
  creditsMicro: number
  heldMicro: number
  availableMicro: number
  creditsUsd: number
}

export interface PricedModel {
  id: string
  pricing: { in_micro: number; out_micro: number }
}

/** The official SDK, pointed at the gateway. `maxRetries: 0` so that a test sees every answer. */
export function openai(gateway: Gateway, key: string): OpenAI {
  return new OpenAI({ baseURL: `${gateway.router}/v1`, apiKey: key, maxRetries: 0 })
}

export async function balanceOf(gateway: Gateway, key: string): Promise<Balance> {
  return (await request<Balance>(gateway, { key }, 'GET', '/billing/balance')).body
}

export async function modelNamed(gateway: Gateway, id: string): Promise<PricedModel> {
  const { body } = await request<{ data: PricedModel[] }>(gateway, null, 'GET', '/v1/models')
  const model = body.data.find(model => model.id === id)
  if (!model) throw new Error(`no model ${id}`)
  return model
}

/** The charge by interface.md, "Metering rules" 3, rounded up to a whole micro-USD. */
export function formulaMicro(
  usage: { prompt_tokens: number; completion_tokens: number },
  { pricing }: PricedModel,
): number {
  const exact =
    BigInt(usage.prompt_tokens) * BigInt(pricing.in_micro) + BigInt(usage.completion_tokens) * BigInt(pricing.out_micro)
  return Number((exact + 999_999n) / 1_000_000n)
}
