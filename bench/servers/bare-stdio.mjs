// Reference: split lines, JSON.parse, canned answer. With BENCH_COALESCE=1 the answers of one chunk leave in one write.
import { answer } from './bare-answer.mjs';

const coalesce = process.env.BENCH_COALESCE === '1';
const newline = 0x0a;
/** @type {Buffer[]} */
let begun = [];

process.stdin.on('data', (/** @type {Buffer} */ chunk) => {
  let out = '';
  let from = 0;
  for (let to = chunk.indexOf(newline); to >= 0; to = chunk.indexOf(newline, from)) {
    let line = '';
    if (begun.length === 0) line = chunk.toString('utf8', from, to);
    else {
      line = Buffer.concat([...begun, chunk.subarray(from, to)]).toString();
      begun = [];
    }
    from = to + 1;
    const text = answer(JSON.parse(line));
    if (text === undefined) continue;
    if (coalesce) out += `${text}\n`;
    else process.stdout.write(`${text}\n`);
  }
  if (from < chunk.length) begun.push(chunk.subarray(from));
  if (out !== '') process.stdout.write(out);
});
