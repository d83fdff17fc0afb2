import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'

/** Seconds, from a tenth of a millisecond: where a gateway's own time lies. */
const LATENCY_BUCKETS_S = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10]

/** Bun walks the whole heap for these: tens of milliseconds in which nothing else is done, at every look. */
const HEAP_SPACES = ['size_total', 'size_used', 'size_available'].map(of => `nodejs_heap_space_${of}_bytes`)

/** A service's figures, read at `/metrics` in the Prometheus text format. */
export interface Metrics {
  counter<L extends string = never>(name: string, help: string, labels?: readonly L[]): Counter<L>
  gauge<L extends string = never>(name: string, help: string, labels?: readonly L[]): Gauge<L>
  /** A gauge that is read when it is asked for. */
  reading(name: string, help: string, read: () => number): void
  seconds<L extends string = never>(name: string, help: string, labels?: readonly L[]): Histogram<L>
  text(): Promise<string>
  readonly contentType: string
}

export function createMetrics(service: string): Metrics {
  const registry = new Registry()
  registry.setDefaultLabels({ service })
  collectDefaultMetrics({ register: registry })
  for (const name of HEAP_SPACES) registry.removeSingleMetric(name)
  const registers = [registry]
  return {
    counter: (name, help, labels = []) =>
      new Counter({ name: `tollgate_${name}`, help, labelNames: [...labels], registers }),
    gauge: (name, help, labels = []) =>
      new Gauge({ name: `tollgate_${name}`, help, labelNames: [...labels], registers }),
    reading(name, help, read) {
      new Gauge({
        name: `tollgate_${name}`,
        help,
        registers,
        collect() {
          this.set(read())
        },
      })
    },
    seconds: (name, help, labels = []) =>
      new Histogram({ name: `tollgate_${name}`, help, labelNames: [...labels], buckets: LATENCY_BUCKETS_S, registers }),
    text: () => registry.metrics(),
    contentType: registry.contentType,
  }
}
