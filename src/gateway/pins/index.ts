// Pins: tools as they were accepted, and what has changed since.

export { type DefinitionDifference, diffDefinitions } from './diff.ts';
export { PinFileError } from './pin-file.ts';
export { type PinDifference, type PinOptions, Pins } from './pins.ts';
