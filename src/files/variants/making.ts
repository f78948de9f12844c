/**
 * The image work itself, by the runtime's own pipeline, in a process that takes one job after another from the server
 * that started it, and knows nothing else. It ends with that server, and by itself when an image takes too much memory.
 */

import { writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { setPriority } from 'node:os';
import { errorCodeOf, messageOf } from '../../errors.ts';
import { MAX_VARIANT_SOURCE_PIXELS } from '../../limits.ts';
import { plainBitmap } from './bitmaps.ts';
import { bufferOf, pngChunks, webpChunks } from './chunks.ts';
import { firstFrameOf } from './first-frame.ts';
import { type Turn, turnOf } from './orientation.ts';
import type { Sides } from './plain-png.ts';
import {
  type Refusal,
  RefusedImage,
  type VariantAnswer,
  type VariantJob,
  type VariantReply,
} from './protocol.ts';
import { repaint } from './repainting.ts';
import type { VariantFormat, VariantWishes } from './schemas.ts';

/** What may come in, and what goes out where the request names no format. */
const FORMAT_OF_SOURCE: Readonly<Record<string, VariantFormat>> = {
  jpeg: 'jpeg',
  png: 'png',
  webp: 'webp',
  gif: 'png',
  bmp: 'png',
};

const REFUSAL_OF_CODE: Readonly<Record<string, Refusal>> = {
  ERR_IMAGE_UNKNOWN_FORMAT: 'no_image',
  ERR_IMAGE_FORMAT_UNSUPPORTED: 'unsupported',
  ERR_IMAGE_TOO_MANY_PIXELS: 'too_many_pixels',
  ERR_IMAGE_DECODE_FAILED: 'broken',
};

/** Bit of a PNG's colour type (PNG, 11.2.2). */
const PNG_HAS_ALPHA = 4;
/**
 * What is transparent is laid on white before an image is scaled, as the colours of what nobody sees would show
 * at the edges; of a larger one after it: there the memory would not do.
 */
const MAX_PAINTED_PIXELS = 24_000_000;

/** Makes the target of a job, and has it on the disk. Throws what is not the image's fault. */
export async function makeVariant(job: VariantJob): Promise<VariantReply> {
  let made: { format: VariantFormat; bytes: Uint8Array };
  try {
    made = await convert(bufferOf(await Bun.file(job.source).bytes()), job);
  } catch (error) {
    const why = error instanceof RefusedImage ? error.why : REFUSAL_OF_CODE[errorCodeOf(error) ?? ''];
    if (why === undefined) throw error;
    return { is: 'refused', why };
  }
  const file = await open(job.target, 'w', 0o600);
  try {
    await file.writeFile(made.bytes);
    // A name must never stand for bytes that a power cut took.
    await file.sync();
  } finally {
    await file.close();
  }
  return { is: 'made', format: made.format };
}

async function convert(
  source: Buffer,
  wishes: VariantWishes,
): Promise<{ format: VariantFormat; bytes: Uint8Array }> {
  if (isForIos(source)) throw new RefusedImage('broken');
  const { bytes, canvas } = firstFrameOf(plainBitmap(source) ?? source);
  // Its sides are read from its head, and held against the limit, before any pixel is.
  const frame = openImage(bytes);
  const { format: given, ...own_sides } = await frame.metadata();
  const own_format = FORMAT_OF_SOURCE[given];
  if (own_format === undefined) throw new RefusedImage('unsupported');
  const sides = canvas ?? own_sides;
  const pixels = sides.width * sides.height;
  if (pixels > MAX_VARIANT_SOURCE_PIXELS) throw new RefusedImage('too_many_pixels');
  const format = wishes.format ?? own_format;
  const is_on_white = format === 'jpeg' && (canvas !== null || mayShowThrough(bytes, given));
  const is_painted_first = canvas !== null || (is_on_white && pixels <= MAX_PAINTED_PIXELS);
  const image = is_painted_first ? await repainted(frame, { piece: canvas, is_on_white }) : frame;
  const resize = wishes.fit === 'cover' ? cover : fitInside;
  const resized = await resize(image, turned(image, sides, turnOf(source)), wishes);
  const shown =
    is_on_white && !is_painted_first ? await repainted(resized, { piece: null, is_on_white }) : resized;
  return { format, bytes: await encoded(shown, format, wishes.quality).bytes() };
}

/** A PNG as Xcode writes it for iOS alone, which the pipeline would read nonsense from. */
function isForIos(file: Buffer): boolean {
  const [first] = pngChunks(file);
  return first?.name === 'CgBI';
}

/** Whether an image may have transparent parts, by what its head says. */
function mayShowThrough(file: Buffer, format: Bun.Image.Format): boolean {
  if (format === 'jpeg') return false;
  if (format === 'webp') return webpChunks(file).next().value?.name !== 'VP8 ';
  if (format !== 'png') return true;
  for (const { name, data } of pngChunks(file)) {
    if (name === 'IHDR' && ((data[9] ?? 0) & PNG_HAS_ALPHA) !== 0) return true;
    if (name === 'tRNS') return true;
    if (name === 'IDAT') return false;
  }
  return false;
}

async function repainted(image: Bun.Image, how: Parameters<typeof repaint>[1]): Promise<Bun.Image> {
  const png = await repaint(await image.png({ compressionLevel: 0 }).bytes(), how);
  // Of a large image what came and what goes on do not fit into the memory beside what is made of that.
  Bun.gc(true);
  return openImage(png);
}

/** The image's sides once it is turned. */
function turned(image: Bun.Image, { width, height }: Sides, { degrees, mirror }: Turn): Sides {
  if (degrees !== 0) image.rotate(degrees);
  if (mirror !== null) image[mirror]();
  return degrees === 90 || degrees === 270 ? { width: height, height: width } : { width, height };
}

function openImage(bytes: Uint8Array): Bun.Image {
  return new Bun.Image(bytes, { maxPixels: MAX_VARIANT_SOURCE_PIXELS });
}

function encoded(image: Bun.Image, format: VariantFormat, quality: number): Bun.Image {
  if (format === 'png') return image.png();
  return format === 'webp' ? image.webp({ quality }) : image.jpeg({ quality });
}

/** Given exact sides, the decoder of JPEGs leaves out what is not needed: twice as fast as with a box. */
async function fitInside(image: Bun.Image, is: Sides, box: Sides): Promise<Bun.Image> {
  const { width, height } = scaled(is, Math.min(1, box.width / is.width, box.height / is.height));
  return image.resize(width, height);
}

/** The image so that it just covers the box, and the middle of that. */
async function cover(image: Bun.Image, is: Sides, box: Sides): Promise<Bun.Image> {
  const width = Math.min(box.width, is.width);
  const height = Math.min(box.height, is.height);
  const whole = scaled(is, Math.max(width / is.width, height / is.height));
  const covering = image.resize(whole.width, whole.height);
  if (whole.width === width && whole.height === height) return covering;
  const left = Math.floor((whole.width - width) / 2);
  const top = Math.floor((whole.height - height) / 2);
  return repainted(covering, { piece: { left, top, width, height }, is_on_white: false });
}

function scaled({ width, height }: Sides, scale: number): Sides {
  return { width: Math.max(1, Math.round(width * scale)), height: Math.max(1, Math.round(height * scale)) };
}

/** How often the memory is looked at: a decoder takes some 100 MB in this time. */
const LOOK_MS = 10;
/** Others go first (setpriority(2)). At the lowest priority a busy machine would let nothing end in time. */
const NICENESS = 10;

/** Makes variants until the server is gone. Answers null at once in a process that no server started. */
export function makeVariants(): Promise<void> | null {
  if (!process.send) return null;
  const send = process.send.bind(process);
  stepBack();
  // The same everywhere: other systems' own decoders know more formats, and are others' to mend.
  Bun.Image.backend = 'bun';
  process.on('message', (job: VariantJob) => void answer(job).then((said) => send(said)));
  return new Promise((resolve) => process.on('disconnect', resolve));
}

async function answer(job: VariantJob): Promise<VariantAnswer> {
  const endIfTooLarge = (): void => {
    if (process.memoryUsage.rss() > job.memory_bytes) process.kill(process.pid, 'SIGKILL');
  };
  endIfTooLarge();
  const watch = setInterval(endIfTooLarge, LOOK_MS);
  try {
    return { reply: await makeVariant(job), memory_bytes: process.memoryUsage.rss() };
  } catch (error) {
    const reply = { is: 'failed', message: messageOf(error), code: errorCodeOf(error) } as const;
    return { reply, memory_bytes: process.memoryUsage.rss() };
  } finally {
    clearInterval(watch);
  }
}

/** Others get the processor first, and this process goes first where memory is short. Not always allowed. */
function stepBack(): void {
  const attempts = [() => setPriority(NICENESS), () => writeFileSync('/proc/self/oom_score_adj', '1000')];
  for (const attempt of attempts) {
    try {
      attempt();
    } catch {
      // Containers forbid the one, other systems lack the other.
    }
  }
}
