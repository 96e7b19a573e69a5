// The output on a terminal: colours, progress, input requests, saved files.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { useHome, useServer } from './program.ts';
import { hasTerminal, Terminal } from './terminal.ts';

const home = useHome();
const url = useServer(['everything']);

describe.skipIf(!hasTerminal)('at a terminal', () => {
  test('tables are coloured and fit the width; NO_COLOR disables colours', async () => {
    const coloured = new Terminal(home, ['tools', url()]);
    expect(await coloured.exited).toBe(0);
    expect(coloured.output).toContain('\u001b[36mtest_simple_text');
    expect(coloured.screen.split('\n').filter((line) => line.length > 80)).toEqual([]);
    const plain = new Terminal(home, ['tools', url()], { NO_COLOR: '1' });
    await plain.exited;
    expect(plain.output).not.toContain('\u001b[');
  });

  test('mooring without a command shows its help instead of waiting for a client', async () => {
    const terminal = new Terminal(home, []);
    expect(await terminal.exited).toBe(0);
    expect(terminal.screen).toContain('Usage: mooring <command>');
  });

  test('progress is shown while a call runs, and removed afterwards', async () => {
    const terminal = new Terminal(home, ['call', url(), 'test_slow', '--arg', 'ms=1500']);
    await terminal.sees(/[█░]{24} +\d+ %/);
    expect(await terminal.exited).toBe(0);
    expect(terminal.output).toMatch(/\r\u001b\[2K[^█░]*$/);
  });

  test('a form is prompted field by field, and invalid answers are prompted again', async () => {
    const terminal = new Terminal(home, ['call', url(), 'test_elicitation_sep1034_defaults']);
    await terminal.sees('The server asks: ');
    await terminal.sees(/name \(string, optional\) \[John Doe\] $/);
    terminal.type('Ada\n');
    await terminal.sees(/age \(integer, optional\) \[30\] $/);
    terminal.type('old\n');
    await terminal.sees('age must be a whole number');
    terminal.type('36\n');
    await terminal.sees(/score .* \[95\.5\] $/);
    terminal.type('\n');
    await terminal.sees(/3 pending\n.*status \(1–3, optional\) \[active\] $/);
    terminal.type('3\n');
    await terminal.sees(/verified \(y\/n, optional\) \[y\] $/);
    terminal.type('n\n');
    await terminal.sees('Send this?');
    terminal.type('\n');
    expect(await terminal.exited).toBe(0);
    expect(terminal.screen).toContain(
      '"content":{"name":"Ada","age":36,"score":95.5,"status":"pending","verified":false}',
    );
  });

  test.each([
    ['"!" declines', '!\n', '"action":"decline"'],
    ['"no" at the end declines', 'a\nb@c\nno\n', '"action":"decline"'],
    ['"cancel" at the end cancels', 'a\nb@c\ncancel\n', '"action":"cancel"'],
  ])('%s', async (_what, keys, outcome) => {
    const terminal = new Terminal(home, ['call', url(), 'test_elicitation', '--arg', 'message=Who?']);
    for (const line of keys.match(/.*\n/g) ?? []) {
      await terminal.sees(/(username|email|Send this\?).*$/);
      const before = terminal.output.length;
      terminal.type(line);
      await expect.poll(() => terminal.output.length).toBeGreaterThan(before);
    }
    await terminal.exited;
    expect(terminal.screen).toContain(outcome);
  });

  test('a page is opened only with consent, and its full URL is shown', async () => {
    const terminal = new Terminal(home, ['call', url(), 'test_elicitation_url']);
    await terminal.sees(/https?:\/\/\S+\n +on \S+\nOpen it\? yes, \[N\]o $/);
    terminal.type('\n');
    await terminal.exited;
    expect(terminal.screen).toContain('decline');
  });

  test('without a model, the user can answer a sampling request', async () => {
    const terminal = new Terminal(home, ['call', url(), 'test_sampling', '--arg', 'prompt=Capital of France?']);
    await terminal.sees('user: Capital of France?');
    terminal.type('Paris\n');
    expect(await terminal.exited).toBe(0);
    expect(terminal.screen).toContain('LLM response: Paris');
  });

  test('Ctrl-C at a prompt exits with 130, Ctrl-D declines', async () => {
    const interrupted = new Terminal(home, ['call', url(), 'test_elicitation', '--arg', 'message=Who?']);
    await interrupted.sees(/username \(string\) $/);
    interrupted.type('\u0003');
    expect(await interrupted.exited).toBe(130);
    const left = new Terminal(home, ['call', url(), 'test_elicitation', '--arg', 'message=Who?']);
    await left.sees(/username \(string\) $/);
    left.type('\u0004');
    expect(await left.exited).toBe(1);
    expect(left.screen).toContain('the terminal input was closed');
  });

  test('an image is saved, and its path is printed', async () => {
    const folder = join(home.path, 'saved');
    const terminal = new Terminal(home, ['call', url(), 'test_image_content', '--save', folder], {
      TERM: 'xterm-kitty',
    });
    expect(await terminal.exited).toBe(0);
    expect(terminal.screen).toContain(`image/png, 69 bytes  → ${join(folder, '1.png')}`);
    expect(terminal.output).not.toContain('\u001b_G');
    expect(readFileSync(join(folder, '1.png')).subarray(1, 4).toString()).toBe('PNG');
  });
});
