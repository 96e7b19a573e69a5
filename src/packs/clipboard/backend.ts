// The interface of a clipboard: it can be read and written. One file per system implements it, and detect.ts picks
// one.

import { UserError } from '../../common/user-error.ts';

/** A clipboard. Text is exact: no line ending is changed, nothing is trimmed. */
export interface ClipboardBackend {
  /** For health checks and the log. */
  readonly name: string;
  /** The text it contains; empty when it contains nothing, or no text. */
  read(signal: AbortSignal, maxBytes: number): Promise<string>;
  /** Resolves when other programs can see the text. */
  write(text: string, signal: AbortSignal): Promise<void>;
}

/** Clipboards that can be selected by name; `auto` finds that of this machine. */
export const backendNames = ['auto', 'memory', 'xclip', 'xsel', 'wayland', 'macos', 'windows', 'wsl'] as const;
export type BackendName = (typeof backendNames)[number];

/** The clipboard cannot be used. The reason says what is wrong, the remedy what the user can do. */
export class ClipboardError extends UserError {
  readonly reason: string;
  readonly remedy: string | undefined;

  constructor(reason: string, remedy?: string, cause?: unknown) {
    const sentence = `Failed to access system clipboard: ${reason}`;
    super(remedy === undefined ? sentence : `${sentence}. ${remedy}`, cause === undefined ? undefined : { cause });
    this.name = 'ClipboardError';
    this.reason = reason;
    this.remedy = remedy;
  }
}

/** There is no desktop session. */
export const noDisplay = (cause?: unknown): ClipboardError =>
  new ClipboardError(
    'No display environment available',
    'Start the server inside a desktop session (DISPLAY or WAYLAND_DISPLAY must be set), or choose the clipboard "memory"',
    cause,
  );
