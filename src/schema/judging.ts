// The second door of this room: whoever goes through it has values of plain schemas judged at once. Without it what
// judges is loaded with the first value, so that a server can answer its first message without it.
import { judges } from './judges.ts';
import { PlainValidator } from './plain.ts';

/** From now on plain schemas are judged without waiting. To be called where a module begins. */
export function judgeAtOnce(): void {
  judges.plain = PlainValidator;
}
