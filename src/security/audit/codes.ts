// The characters that lines are made of, by their codes.

export const lineBreak = 0x0a;
export const quote = 0x22;
export const comma = 0x2c;
export const point = 0x2e;
export const zero = 0x30;
export const backslash = 0x5c;
export const openList = 0x5b;
export const closeList = 0x5d;
export const openRecord = 0x7b;
export const closeRecord = 0x7d;
