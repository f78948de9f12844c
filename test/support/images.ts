/** Images for tests: made to order, looked at pixel by pixel, and samples of kinds that nothing here can make. */
import { deflateSync, inflateSync } from 'node:zlib';

type Colour = readonly [red: number, green: number, blue: number];
type SeeThrough = readonly [...Colour, alpha: number];

/** A chunk of a PNG, with its length and checksum. */
function chunk(type: string, data: Uint8Array): Buffer {
  const whole = Buffer.alloc(12 + data.length);
  whole.writeUInt32BE(data.length, 0);
  whole.write(type, 4, 'latin1');
  whole.set(data, 8);
  whole.writeUInt32BE(Bun.hash.crc32(whole.subarray(4, 8 + data.length)), 8 + data.length);
  return whole;
}

function pngOf(width: number, height: number, packed: Uint8Array, type = 2): Buffer<ArrayBuffer> {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, type], 8);
  const signature = Buffer.from('89504e470d0a1a0a', 'hex');
  return Buffer.concat([
    signature,
    chunk('IHDR', head),
    chunk('IDAT', packed),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/** A PNG of these pixels. */
export function png(
  width: number,
  height: number,
  colourAt: (x: number, y: number) => Colour,
): Buffer<ArrayBuffer> {
  const row = 1 + 3 * width;
  const rows = Buffer.alloc(height * row);
  for (let y = 0; y < height; y += 1)
    for (let x = 0; x < width; x += 1) rows.set(colourAt(x, y), y * row + 1 + 3 * x);
  return pngOf(width, height, deflateSync(rows, { level: 1 }));
}

/** A PNG with transparent parts. */
export function seeThroughPng(
  width: number,
  height: number,
  colourAt: (x: number, y: number) => SeeThrough,
): Buffer<ArrayBuffer> {
  const row = 1 + 4 * width;
  const rows = Buffer.alloc(height * row);
  for (let y = 0; y < height; y += 1)
    for (let x = 0; x < width; x += 1) rows.set(colourAt(x, y), y * row + 1 + 4 * x);
  return pngOf(width, height, deflateSync(rows, { level: 1 }), 6);
}

interface Place {
  left: number;
  top: number;
}

const RIFF_HEAD_BYTES = 12;

function riff(name: string, data: Uint8Array): Buffer<ArrayBuffer> {
  const head = Buffer.alloc(8);
  head.write(name);
  head.writeUInt32LE(data.length, 4);
  return Buffer.concat([head, data, Buffer.alloc(data.length % 2)]);
}

/** An animated WebP on a canvas, of images that are WebPs themselves. */
export async function webpAnimation(
  canvas: { width: number; height: number },
  ...frames: (Place & { image: Uint8Array })[]
): Promise<Buffer> {
  const head = Buffer.alloc(10);
  head[0] = 0x02;
  head.writeUIntLE(canvas.width - 1, 4, 3);
  head.writeUIntLE(canvas.height - 1, 7, 3);
  const parts = await Promise.all(
    frames.map(async ({ left, top, image }) => {
      const { width, height } = await new Bun.Image(image).metadata();
      const about = Buffer.alloc(16);
      [left / 2, top / 2, width - 1, height - 1].forEach((value, at) => {
        about.writeUIntLE(value, 3 * at, 3);
      });
      const bytes = Buffer.from(image);
      // What is about the whole of an image is no part of a frame.
      const own = bytes.toString('latin1', 12, 16) === 'VP8X' ? 18 : 0;
      return riff('ANMF', Buffer.concat([about, bytes.subarray(RIFF_HEAD_BYTES + own)]));
    }),
  );
  const animation = riff('ANIM', Buffer.from([255, 0, 0, 255, 0, 0]));
  return riff('RIFF', Buffer.concat([Buffer.from('WEBP'), riff('VP8X', head), animation, ...parts]));
}

interface GifFrame extends Place {
  width: number;
  height: number;
  /** Places in the palette. */
  at(x: number, y: number): number;
  /** A palette of its own: four colours. */
  palette?: readonly Colour[];
  is_interlaced?: boolean;
  disposal?: number;
}

/** A GIF of four colours, of which the first is transparent, with comments between its frames. */
export function gif(
  canvas: { width: number; height: number },
  palette: readonly Colour[],
  ...frames: GifFrame[]
): Buffer {
  const short = (value: number): number[] => [value & 0xff, value >> 8];
  const head = [...Buffer.from('GIF89a'), ...short(canvas.width), ...short(canvas.height), 0xf1, 2, 0];
  const comment = [0x21, 0xfe, 3, ...Buffer.from('two'), 2, ...Buffer.from('of'), 0];
  const parts = frames.map((frame) => {
    const { left, top, width, height, is_interlaced = false, disposal = 0 } = frame;
    const flags = (frame.palette ? 0x81 : 0) | (is_interlaced ? 0x40 : 0);
    return [
      ...comment,
      ...[0x21, 0xf9, 4, (disposal << 2) | 1, ...short(10), 0, 0],
      ...[0x2c, ...[left, top, width, height].flatMap(short), flags, ...(frame.palette?.flat() ?? [])],
      ...lzw(frame),
    ];
  });
  return Buffer.from([...head, ...palette.flat(), ...parts.flat(), 0x3b]);
}

/** Without compression: each pixel is a code of 3 bits, and a clear code comes before codes would grow. */
function lzw({ width, height, at, is_interlaced = false }: GifFrame): number[] {
  const rows = Array.from({ length: height }, (_, y) => y);
  const passes = [
    [0, 8],
    [4, 8],
    [2, 4],
    [1, 2],
  ] as const;
  const ordered = is_interlaced
    ? passes.flatMap(([first, step]) => rows.filter((y) => y >= first && (y - first) % step === 0))
    : rows;
  const [clear, end] = [4, 5];
  const codes = ordered
    .flatMap((y) => Array.from({ length: width }, (_, x) => at(x, y)))
    .flatMap((value, index) => (index % 2 === 0 ? [clear, value] : [value]));
  const bytes: number[] = [];
  [...codes, end].forEach((code, index) => {
    for (let bit = 0; bit < 3; bit += 1) {
      const place = index * 3 + bit;
      bytes[place >> 3] = (bytes[place >> 3] ?? 0) | (((code >> bit) & 1) << (place & 7));
    }
  });
  const blocks: number[] = [2];
  for (let from = 0; from < bytes.length; from += 255) {
    const block = bytes.slice(from, from + 255);
    blocks.push(block.length, ...block);
  }
  return [...blocks, 0];
}

interface PlainBmp {
  width: number;
  height: number;
  bits: 1 | 4 | 8 | 16;
  /** Of a pixel: its place in the palette, or its bits. */
  at(x: number, y: number): number;
  palette?: readonly Colour[];
  /** Of red, green, blue and, with the longer header, alpha. */
  masks?: readonly number[];
  header_bytes?: 12 | 40 | 108;
  is_top_first?: boolean;
  compression?: number;
}

/** A BMP with a palette, or of 16 bits a pixel. */
export function bmpOf({ width, height, bits, at, ...rest }: PlainBmp): Buffer {
  const { palette = [], masks = [], header_bytes = 40, is_top_first = false } = rest;
  const { compression = masks.length > 0 ? 3 : 0 } = rest;
  const head = Buffer.alloc(Math.max(header_bytes, 40) + (header_bytes === 40 ? 4 * masks.length : 0));
  head.writeUInt32LE(header_bytes, 0);
  head.writeInt32LE(width, 4);
  head.writeInt32LE(is_top_first ? -height : height, 8);
  head.writeUInt16LE(1, 12);
  head.writeUInt16LE(bits, 14);
  head.writeUInt32LE(compression, 16);
  head.writeUInt32LE(palette.length, 32);
  masks.forEach((mask, index) => {
    head.writeUInt32LE(mask, 40 + 4 * index);
  });
  // OS/2's header has sides of two bytes, and its palette no fourth.
  const short = Buffer.from([12, 0, 0, 0, width, width >> 8, height, height >> 8, 1, 0, bits, 0]);
  const header = header_bytes === 12 ? short : head;
  const colours = palette.flatMap(([red, green, blue]) => [
    ...[blue, green, red],
    ...(header_bytes === 12 ? [] : [0]),
  ]);
  const row_bytes = Math.ceil((width * bits) / 32) * 4;
  const rows = Buffer.alloc(row_bytes * height);
  for (let y = 0; y < height; y += 1)
    for (let x = 0; x < width; x += 1) {
      const start = row_bytes * (is_top_first ? y : height - 1 - y);
      if (bits === 16) rows.writeUInt16LE(at(x, y), start + 2 * x);
      else {
        const place = start + ((x * bits) >> 3);
        rows[place] = (rows[place] ?? 0) | (at(x, y) << (8 - bits - ((x * bits) & 7)));
      }
    }
  const file = Buffer.concat([Buffer.alloc(14), header, Buffer.from(colours), rows]);
  file.write('BM');
  file.writeUInt32LE(file.length - rows.length, 10);
  return file;
}

/** EXIF that says nothing but an orientation: one entry (TIFF 6.0), the smaller byte first. */
function exifOf(orientation: number): Buffer {
  return Buffer.from([
    ...Buffer.from('II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0', 'latin1'),
    orientation,
    0,
    0,
    0,
  ]);
}

/** The PNG with an orientation, or with what there is in its place. */
export function turnedPng(
  file: Buffer,
  orientation: number,
  exif = exifOf(orientation),
): Buffer<ArrayBuffer> {
  const behind_head = 8 + 12 + 13;
  return Buffer.concat([file.subarray(0, behind_head), chunk('eXIf', exif), file.subarray(behind_head)]);
}

/** A WebP without loss, with an orientation. */
export async function turnedWebp(file: Buffer, orientation: number): Promise<Buffer<ArrayBuffer>> {
  const { width, height } = await new Bun.Image(file).metadata();
  const plain = Buffer.from(await new Bun.Image(file).webp({ lossless: true }).bytes());
  const canvas = Buffer.alloc(10);
  canvas[0] = 0x08;
  canvas.writeUIntLE(width - 1, 4, 3);
  canvas.writeUIntLE(height - 1, 7, 3);
  const exif = riff('EXIF', exifOf(orientation));
  return riff('RIFF', Buffer.concat([Buffer.from('WEBP'), riff('VP8X', canvas), plain.subarray(12), exif]));
}

/** A PNG that says that it has these sides, and has next to nothing. */
export function bomb(width: number, height: number): Buffer {
  return pngOf(width, height, deflateSync(Buffer.alloc(0)));
}

/** A BMP of one colour (24 bits a pixel). */
export function bmp(width: number, height: number, [red, green, blue]: Colour): Buffer {
  const row = Math.ceil((width * 3) / 4) * 4;
  const file = Buffer.alloc(54 + row * height);
  file.write('BM');
  file.writeUInt32LE(file.length, 2);
  file.writeUInt32LE(54, 10);
  file.writeUInt32LE(40, 14);
  file.writeInt32LE(width, 18);
  file.writeInt32LE(height, 22);
  file.writeUInt16LE(1, 26);
  file.writeUInt16LE(24, 28);
  for (let y = 0; y < height; y += 1)
    for (let x = 0; x < width; x += 1) file.set([blue, green, red], 54 + y * row + 3 * x);
  return file;
}

/** What an image is and shows: its format, its sides, and its pixels, alpha last. */
export async function look(bytes: Uint8Array) {
  const { format, width, height } = await new Bun.Image(bytes).metadata();
  const plain = Buffer.from(await new Bun.Image(bytes).png({ compressionLevel: 0 }).bytes());
  const packed: Buffer[] = [];
  const names: string[] = [];
  for (let at = 8; at < plain.length; at += 12 + plain.readUInt32BE(at)) {
    const name = plain.toString('latin1', at + 4, at + 8);
    names.push(name);
    if (name === 'IDAT') packed.push(plain.subarray(at + 8, at + 8 + plain.readUInt32BE(at)));
  }
  const rows = inflateSync(Buffer.concat(packed));
  const at = (x: number, y: number): number[] => [
    ...rows.subarray(y * (1 + 4 * width) + 1 + 4 * x, y * (1 + 4 * width) + 5 + 4 * x),
  ];
  return { format, width, height, at, has_profile: names.includes('iCCP') };
}

/** The colours near the corners, to the nearest of dark and light: `m.b` is magenta, then blue below, and so on. */
export async function corners(bytes: Uint8Array): Promise<string> {
  const { width, height, at } = await look(bytes);
  const letters: Readonly<Record<string, string>> = {
    '101': 'm',
    '001': 'b',
    '100': 'r',
    '000': 'k',
    '010': 'g',
  };
  return [at(2, 2), at(width - 3, 2), at(2, height - 3), at(width - 3, height - 3)]
    .map(
      (colour) =>
        letters[
          colour
            .slice(0, 3)
            .map((part) => (part > 127 ? 1 : 0))
            .join('')
        ] ?? '?',
    )
    .join('');
}

/** Four quarters: magenta, blue; red, black. All samples but the AVIF are of it, and it is 64 pixels wide and 48 high. */
export const quarters = (x: number, y: number): Colour => [x < 32 ? 255 : 0, 0, y < 24 ? 255 : 0];

/** Written by Pillow. */
const SAMPLES = {
  /** CMYK, as Adobe's programs write it. */
  cmyk_jpeg:
    '/9j/7gAOQWRvYmUAZAAAAAAA/9sAQwAIBgYHBgUIBwcHCQkICgwUDQwLCwwZEhMPFB0aHx4dGhwcICQuJyAiLCMcHCg3KSwwMTQ0NB8nOT04MjwuMzQy/8AAFAgAMABABEMRAE0RAFkRAEsRAP/EAB8AAAEFAQEBAQEBAAAAAAAAAAABAgMEBQYHCAkKC//EALUQAAIBAwMCBAMFBQQEAAABfQECAwAEEQUSITFBBhNRYQcicRQygZGhCCNCscEVUtHwJDNicoIJChYXGBkaJSYnKCkqNDU2Nzg5OkNERUZHSElKU1RVVldYWVpjZGVmZ2hpanN0dXZ3eHl6g4SFhoeIiYqSk5SVlpeYmZqio6Slpqeoqaqys7S1tre4ubrCw8TFxsfIycrS09TV1tfY2drh4uPk5ebn6Onq8fLz9PX29/j5+v/aAA4EQwBNAFkASwAAPwD3+vn+vf69/oooooooooooor4Aooooooooooooooor7/ooooooooooooooor4Aooooooooooooooor7/ooooooooooooooor4Aooooooooooooooor7/or4Aooooooooooooor4Aooooooooooooooor7/AKKKKKKKKKKKKKKKK+AKKKKKKKKKKKKKKKK+/wCiiiiiiiiiiiiiiivgCiiiiiiiiiiiiiiiv//Z',
  /** Lying on its side, by its EXIF (orientation 6), which also says SECRET-EXIF; with a colour profile. */
  turned_jpeg:
    '/9j/4AAQSkZJRgABAQAAAQABAAD/4QA6RXhpZgAATU0AKgAAAAgAAgEOAAIAAAAMAAAAJgESAAMAAAABAAYAAAAAAABTRUNSRVQtRVhJRgD/4gJcSUNDX1BST0ZJTEUAAQEAAAJMbGNtcwRAAABtbnRyUkdCIFhZWiAH6gALABcADgA3AAthY3NwQVBQTAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA9tYAAQAAAADTLWxjbXMAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAtkZXNjAAABCAAAADZjcHJ0AAABQAAAAEx3dHB0AAABjAAAABRjaGFkAAABoAAAACxyWFlaAAABzAAAABRiWFlaAAAB4AAAABRnWFlaAAAB9AAAABRyVFJDAAACCAAAACBnVFJDAAACCAAAACBiVFJDAAACCAAAACBjaHJtAAACKAAAACRtbHVjAAAAAAAAAAEAAAAMZW5VUwAAABoAAAAcAHMAUgBHAEIAIABiAHUAaQBsAHQALQBpAG4AAG1sdWMAAAAAAAAAAQAAAAxlblVTAAAAMAAAABwATgBvACAAYwBvAHAAeQByAGkAZwBoAHQALAAgAHUAcwBlACAAZgByAGUAZQBsAHlYWVogAAAAAAAA9tYAAQAAAADTLXNmMzIAAAAAAAEMQgAABd7///MlAAAHkwAA/ZD///uh///9ogAAA9wAAMBuWFlaIAAAAAAAAG+gAAA49QAAA5BYWVogAAAAAAAAJJ8AAA+EAAC2w1hZWiAAAAAAAABilwAAt4cAABjZcGFyYQAAAAAAAwAAAAJmZgAA8qcAAA1ZAAAT0AAACltjaHJtAAAAAAADAAAAAKPXAABUewAATM0AAJmaAAAmZgAAD1z/2wBDAAMCAgMCAgMDAwMEAwMEBQgFBQQEBQoHBwYIDAoMDAsKCwsNDhIQDQ4RDgsLEBYQERMUFRUVDA8XGBYUGBIUFRT/2wBDAQMEBAUEBQkFBQkUDQsNFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBT/wAARCAAwAEADASIAAhEBAxEB/8QAHwAAAQUBAQEBAQEAAAAAAAAAAAECAwQFBgcICQoL/8QAtRAAAgEDAwIEAwUFBAQAAAF9AQIDAAQRBRIhMUEGE1FhByJxFDKBkaEII0KxwRVS0fAkM2JyggkKFhcYGRolJicoKSo0NTY3ODk6Q0RFRkdISUpTVFVWV1hZWmNkZWZnaGlqc3R1dnd4eXqDhIWGh4iJipKTlJWWl5iZmqKjpKWmp6ipqrKztLW2t7i5usLDxMXGx8jJytLT1NXW19jZ2uHi4+Tl5ufo6erx8vP09fb3+Pn6/8QAHwEAAwEBAQEBAQEBAQAAAAAAAAECAwQFBgcICQoL/8QAtREAAgECBAQDBAcFBAQAAQJ3AAECAxEEBSExBhJBUQdhcRMiMoEIFEKRobHBCSMzUvAVYnLRChYkNOEl8RcYGRomJygpKjU2Nzg5OkNERUZHSElKU1RVVldYWVpjZGVmZ2hpanN0dXZ3eHl6goOEhYaHiImKkpOUlZaXmJmaoqOkpaanqKmqsrO0tba3uLm6wsPExcbHyMnK0tPU1dbX2Nna4uPk5ebn6Onq8vP09fb3+Pn6/9oADAMBAAIRAxEAPwDgqKKK/uA/0dCiiigD40ooor9zP8qgooooA+y6K8xor/OP/iOf/Ut/8q//AHI/1w/s3+/+H/BPTqK8xoo/4jn/ANS3/wAq/wD3IP7N/v8A4f8ABPAqK8yor9y/4jn/ANS3/wAq/wD3I/yr/sz+/wDh/wAE9NorzKij/iOf/Ut/8q//AHIP7M/v/h/wT7Kooor/ADjP9bwooooA+NaKKK/cz/KwKKKKAP/Z',
  /** Two frames, the second of which is green. */
  animated_gif:
    'R0lGODlhQAAwAIEAAP8A//8AAAAA/wAAACH/C05FVFNDQVBFMi4wAwEAAAAh+QQACgAAACwAAAAAQAAwAAAI+gABCBxIsKDBgwQFKFzIsKHDhwwRSpxYEKLFiw0papSIsaPFjSArehwZMaRJkigFmDyZcuTKkC1dvtwY0+NMmjUx3tSYU+fOiT0v/gQaFOJQjkUfHkWYVOlSg00dPoUateTUgVWtXgWQdeFWrF1VfuUadizZrmbDiv2qNm3YAHDjyp1Lt67cAXjz6t3Lt69eu4ADz/VLuPBewYgBG15MOLHjwYwj/31MWbLlAZQrX46c+fFmzp0Tf2YcWvRow6URn0adOvDqwq1dv/YbW/HsvrXt3sadm+5uvr19/54cPO5w4sUDHM+b3PhyzM2VP48ufTn159CbY7/+PCAAIfkEAQoAAQAsAAAAAEAAMACBAP8AAAAAAAAAAAAACFoAAQgcSLCgwYMIEypcyLChw4cQI0qcSLGixYsYM2rcyLGjx48gQ4ocSbKkyZMoU6pcybKly5cwY8qcSbOmzZs4c+rcybOnz59AgwodSrSo0aNIkypdyrRp0YAAOw==',
  animated_webp:
    'UklGRiwBAABXRUJQVlA4WAoAAAACAAAAPwAALwAAQU5JTQYAAAAAAAAAAABBTk1GlAAAAAAAAAAAAD8AAC8AAGQAAAJWUDggfAAAANAFAJ0BKkAAMAA+aSiQRaQioZlUAEAGhKAMNuEH4B+FemA/Br8Va/8B5uTZeRI4J6wD/99GNQAA/unrwPAZtF9EealKrjv6BP6BIBS/6urTfDwtZAsy+SbfJNv8k2/6+/b4+kv/8ACXryLfkFFI68gQsjyd6tL9Sud3gABBTk1GZAAAAAAAAAAAAD8AAC8AAGQAAABWUDggTAAAAPQDAJ0BKkAAMAA+bTCSSQIqAADYlnANQGgH4AfgACW5jhl1zGyjZBAA/uWHP/9rQHBqv8z///ffCiO3X+hL9MLV+M/wAt+P93QLgAA=',
  avif: 'AAAAIGZ0eXBhdmlmAAAAAGF2aWZtaWYxbWlhZk1BMUIAAADrbWV0YQAAAAAAAAAhaGRscgAAAAAAAAAAcGljdAAAAAAAAAAAAAAAAAAAAAAOcGl0bQAAAAAAAQAAAB5pbG9jAAAAAEQAAAEAAQAAAAEAAAETAAAAPQAAAChpaW5mAAAAAAABAAAAGmluZmUCAAAAAAEAAGF2MDFDb2xvcgAAAABqaXBycAAAAEtpcGNvAAAAFGlzcGUAAAAAAAAAQAAAADAAAAAQcGl4aQAAAAADCAgIAAAADGF2MUOBAAwAAAAAE2NvbHJuY2x4AAEADQAGgAAAABdpcG1hAAAAAAAAAAEAAQQBAoMEAAAARW1kYXQSAAoJGBV/vaICGg0IMi5FMeHhmUCCCCeUAAAAwhFp1tuxCzKGNx430DmgzISSqmNeKs0TRYuSfnhl1yaA',
} as const;

export function sample(name: keyof typeof SAMPLES): Buffer {
  return Buffer.from(SAMPLES[name], 'base64');
}
