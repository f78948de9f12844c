/** Images for tests: made to order, looked at pixel by pixel, and samples of kinds that nothing here can make. */
import { deflateSync, inflateSync } from 'node:zlib';

type Colour = readonly [red: number, green: number, blue: number];

/** A chunk of a PNG, with its length and checksum. */
function chunk(type: string, data: Uint8Array): Buffer {
  const whole = Buffer.alloc(12 + data.length);
  whole.writeUInt32BE(data.length, 0);
  whole.write(type, 4, 'latin1');
  whole.set(data, 8);
  whole.writeUInt32BE(Bun.hash.crc32(whole.subarray(4, 8 + data.length)), 8 + data.length);
  return whole;
}

function pngOf(width: number, height: number, packed: Uint8Array): Buffer<ArrayBuffer> {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 2], 8);
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
  const riff = (name: string, data: Buffer): Buffer<ArrayBuffer> => {
    const head = Buffer.alloc(8);
    head.write(name);
    head.writeUInt32LE(data.length, 4);
    return Buffer.concat([head, data]);
  };
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
