// The version of this build; the bundler fills it in.

declare const __VERSION__: string | undefined;

/** The version this gateway reports unless the application gives one. */
export const version: string = typeof __VERSION__ === 'string' ? __VERSION__ : '0.0.0';
