/** What the server and the processes that make its variants say to each other, and why they refuse an image. */
import { isPlainObject } from '../../platform/http/schema.ts';
import { VARIANT_FORMATS, type VariantFormat, type VariantWishes } from './schemas.ts';

/** The hidden verb that such a process is started with. */
export const MAKER_VERB = '__make_variants';

export interface VariantJob extends VariantWishes {
  /** The file with the image, and the one to be made. */
  source: string;
  target: string;
  /** Above it the process ends itself. */
  memory_bytes: number;
}

export const REFUSALS = ['no_image', 'unsupported', 'too_many_pixels', 'broken'] as const;
/** Why no variant can be made of a source, whatever is asked for. */
export type Refusal = (typeof REFUSALS)[number];

export type VariantReply =
  /** The target is on the disk. */
  | { is: 'made'; format: VariantFormat }
  | { is: 'refused'; why: Refusal }
  /** For a reason that is not the image's; `code` is the system's. */
  | { is: 'failed'; message: string; code: string | null };

/** A reply, and what memory the process holds after it. */
export interface VariantAnswer {
  reply: VariantReply;
  memory_bytes: number;
}

/** A message as it came; null where it is no answer. */
export function readAnswer(message: unknown): VariantAnswer | null {
  if (!isPlainObject(message) || typeof message.memory_bytes !== 'number') return null;
  const reply = isPlainObject(message.reply) ? readReply(message.reply) : null;
  return reply && { reply, memory_bytes: message.memory_bytes };
}

function readReply(reply: Record<string, unknown>): VariantReply | null {
  const format = VARIANT_FORMATS.find((each) => each === reply.format);
  if (reply.is === 'made' && format) return { is: 'made', format };
  const why = REFUSALS.find((each) => each === reply.why);
  if (reply.is === 'refused' && why) return { is: 'refused', why };
  if (reply.is !== 'failed') return null;
  const code = typeof reply.code === 'string' ? reply.code : null;
  return { is: 'failed', message: String(reply.message), code };
}

export class RefusedImage extends Error {
  constructor(readonly why: Refusal) {
    super(why);
  }
}
