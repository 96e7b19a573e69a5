// Where a gateway keeps its files, in the data folder.

import { join } from 'node:path';

export const pinFile = (dataDir: string): string => join(dataDir, 'gateway', 'pins.json');
export const catalogFolder = (dataDir: string): string => join(dataDir, 'gateway', 'catalog');
