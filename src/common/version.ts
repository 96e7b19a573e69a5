// The version of this build, inserted by the bundler.

declare const __VERSION__: string | undefined;

export const version: string = typeof __VERSION__ === 'string' ? __VERSION__ : '0.0.0';
