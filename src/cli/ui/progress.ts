// A progress bar on stderr. Shown only on a terminal.

import { lineForTerminal } from '../../app/untrusted-text.ts';
import { styleFor } from './style.ts';
import { cutTo, widthOf } from './width.ts';

export interface ProgressReport {
  /** Undefined: only the message is known. */
  readonly progress?: number;
  readonly total?: number;
  readonly message?: string;
}

export interface ProgressBar {
  report(progress: ProgressReport): void;
  /** Hides the bar while something else uses the terminal; the returned function shows it again. */
  pause(): () => void;
  /** Removes the bar. */
  close(): void;
}

/** Shows nothing. */
export const noProgress: ProgressBar = { report() {}, pause: () => () => {}, close() {} };

const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const frameMs = 80;
/** Calls that end before this show no bar, so that it does not flicker. */
const showAfterMs = 150;
const barWidth = 24;

/** Starts a spinner, which becomes a bar with the first report. */
export function startProgress(label: string): ProgressBar {
  const stream = process.stderr;
  if (stream.isTTY !== true || process.env['TERM'] === 'dumb') return noProgress;
  const style = styleFor(stream);
  let last: ProgressReport | undefined;
  let frame = 0;
  let shown = false;
  let paused = 0;
  const draw = (): void => {
    if (paused > 0) return;
    const head = style.name(frames[frame++ % frames.length] as string);
    const text = `${head} ${body(last, label, Math.max(20, (stream.columns || 80) - 2), style)}`;
    stream.write(`\r\u001b[2K${text}`);
    shown = true;
  };
  const hide = (): void => {
    if (shown) stream.write('\r\u001b[2K');
    shown = false;
  };
  let timer: NodeJS.Timeout | undefined = setTimeout(() => {
    draw();
    timer = setInterval(draw, frameMs);
    timer.unref();
  }, showAfterMs);
  timer.unref();
  return {
    report(progress) {
      last = progress;
    },
    pause() {
      paused++;
      hide();
      return () => {
        paused--;
      };
    },
    close() {
      clearTimeout(timer);
      clearInterval(timer);
      hide();
    },
  };
}

function body(
  last: ProgressReport | undefined,
  label: string,
  available: number,
  style: ReturnType<typeof styleFor>,
): string {
  if (last === undefined) return style.faint(cutTo(label, available));
  const { progress, total, message } = last;
  if (progress === undefined) return style.faint(cutTo(lineForTerminal(message ?? label), available));
  const share = total === undefined || total <= 0 ? undefined : Math.min(1, Math.max(0, progress / total));
  const full = share === undefined ? 0 : Math.round(share * barWidth);
  const count = share === undefined ? figure(progress) : `${String(Math.round(share * 100)).padStart(3)} %`;
  const bar = share === undefined ? '' : `${style.good('█'.repeat(full))}${style.faint('░'.repeat(barWidth - full))} `;
  const text = lineForTerminal(message ?? label);
  return `${bar}${count}  ${style.faint(cutTo(text, Math.max(0, available - widthOf(bar) - widthOf(count) - 2)))}`;
}

function figure(value: number): string {
  return Number.isInteger(value) ? String(value) : value.toFixed(2);
}
