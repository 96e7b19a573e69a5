// What a clipboard is to this pack: something that can be read and written. Contract only; one file per system
// implements it, and detect.ts picks one.

/** A clipboard. Text is exact: no line ending is changed, nothing is trimmed. */
export interface ClipboardBackend {
  /** For health checks and the log. */
  readonly name: string;
  /** The text it holds; empty when it holds nothing, or no text. */
  read(signal: AbortSignal, maxBytes: number): Promise<string>;
  /** Resolves when other programs can see the text. */
  write(text: string, signal: AbortSignal): Promise<void>;
}

/** Clipboards that can be asked for by name; `auto` finds the one of this machine. */
export const backendNames = ['auto', 'memory', 'xclip', 'xsel', 'wayland', 'macos', 'windows', 'wsl'] as const;
export type BackendName = (typeof backendNames)[number];

/** The clipboard can not be used. The reason is a fact, the remedy what a person can do about it. */
export class ClipboardError extends Error {
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

/** No desktop to talk to. */
export const noDisplay = (cause?: unknown): ClipboardError =>
  new ClipboardError(
    'No display environment available',
    'Start the server inside a desktop session (DISPLAY or WAYLAND_DISPLAY must be set), or choose the clipboard "memory"',
    cause,
  );
