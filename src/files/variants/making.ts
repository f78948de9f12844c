/** The image work itself, by the runtime's own pipeline. It runs in a process of its own; see maker.ts. */
import { open } from 'node:fs/promises';
import { errorCodeOf } from '../../errors.ts';
import { MAX_VARIANT_SOURCE_PIXELS } from '../../limits.ts';
import { bufferOf } from './chunks.ts';
import { cropPng } from './cropping.ts';
import { firstFrameOf } from './first-frame.ts';
import { type Turn, turnOf } from './orientation.ts';
import type { Refusal, VariantJob, VariantReply } from './protocol.ts';
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

class RefusedImage extends Error {
  readonly why: Refusal;

  constructor(why: Refusal) {
    super(why);
    this.why = why;
  }
}

async function convert(
  source: Buffer,
  wishes: VariantWishes,
): Promise<{ format: VariantFormat; bytes: Uint8Array }> {
  // Its sides are read from its head, and held against the limit, before any pixel is.
  const image = openImage(firstFrameOf(source));
  const { format: given, ...sides } = await image.metadata();
  const own_format = FORMAT_OF_SOURCE[given];
  if (own_format === undefined) throw new RefusedImage('unsupported');
  const format = wishes.format ?? own_format;
  const resize = wishes.fit === 'cover' ? cover : fitInside;
  const resized = await resize(image, turned(image, sides, turnOf(source)), wishes);
  return { format, bytes: await encoded(resized, format, wishes.quality).bytes() };
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

interface Sides {
  width: number;
  height: number;
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
  const png = await covering.png({ compressionLevel: 0 }).bytes();
  const left = Math.floor((whole.width - width) / 2);
  const top = Math.floor((whole.height - height) / 2);
  return openImage(await cropPng(png, { left, top, width, height }));
}

function scaled({ width, height }: Sides, scale: number): Sides {
  return { width: Math.max(1, Math.round(width * scale)), height: Math.max(1, Math.round(height * scale)) };
}
