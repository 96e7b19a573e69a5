// A zip archive from texts and buffers, the same bytes for the same input: sorted names, one fixed date.
import { crc32, deflateRawSync } from 'node:zlib';

const fixedTime = 0;
const fixedDate = (1 << 5) | 1; // The first day of 1980, the earliest a zip can say.

/** Entries by name. */
export function zip(entries) {
  const locals = [];
  const directory = [];
  let offset = 0;
  for (const name of Object.keys(entries).sort()) {
    const data = Buffer.from(entries[name]);
    const packed = deflateRawSync(data, { level: 9 });
    const path = Buffer.from(name);
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0); // version needed
    common.writeUInt16LE(0x0800, 2); // names are UTF-8
    common.writeUInt16LE(8, 4); // deflate
    common.writeUInt16LE(fixedTime, 6);
    common.writeUInt16LE(fixedDate, 8);
    common.writeUInt32LE(crc32(data), 10);
    common.writeUInt32LE(packed.length, 14);
    common.writeUInt32LE(data.length, 18);
    common.writeUInt16LE(path.length, 22);
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), common, path, packed]);
    const more = Buffer.alloc(14);
    more.writeUInt32LE((0o100644 << 16) >>> 0, 6); // an ordinary file, readable by all
    more.writeUInt32LE(offset, 10);
    const made = Buffer.from([20, 3]); // by this version, on Unix
    directory.push(Buffer.concat([Buffer.from('PK\x01\x02'), made, common, more, path]));
    locals.push(local);
    offset += local.length;
  }
  const central = Buffer.concat(directory);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(directory.length, 4);
  end.writeUInt16LE(directory.length, 6);
  end.writeUInt32LE(central.length, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...locals, central, Buffer.from('PK\x05\x06'), end]);
}
