// The files of a gateway in the data folder.

import { join } from 'node:path';

export const pinFile = (dataDir: string): string => join(dataDir, 'gateway', 'pins.json');
export const catalogFolder = (dataDir: string): string => join(dataDir, 'gateway', 'catalog');
export const userFolder = (dataDir: string): string => join(dataDir, 'gateway', 'users');
