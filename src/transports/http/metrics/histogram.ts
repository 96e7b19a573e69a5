// A histogram of durations in the text format of Prometheus.

export class Histogram {
  readonly #bucketsMs: readonly number[];
  readonly #counts: number[];
  #sum = 0;
  #count = 0;

  constructor(bucketsMs: readonly number[]) {
    this.#bucketsMs = bucketsMs;
    this.#counts = new Array<number>(bucketsMs.length).fill(0);
  }

  add(ms: number): void {
    this.#sum += ms;
    this.#count++;
    const at = this.#bucketsMs.findIndex((limit) => ms <= limit);
    if (at !== -1) (this.#counts[at] as number)++;
  }

  lines(name: string, labels: string): string[] {
    let below = 0;
    const rows = this.#bucketsMs.map((limit, i) => {
      below += this.#counts[i] as number;
      return `${name}_bucket{${labels},le="${limit / 1000}"} ${below}`;
    });
    rows.push(`${name}_bucket{${labels},le="+Inf"} ${this.#count}`);
    rows.push(`${name}_sum{${labels}} ${this.#sum / 1000}`, `${name}_count{${labels}} ${this.#count}`);
    return rows;
  }
}

/** The value of a label. */
export function escapeLabel(text: string): string {
  return text.slice(0, 100).replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
