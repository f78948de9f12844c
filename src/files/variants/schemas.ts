/** What a request may ask of a variant. */
import { invalid } from '../../errors.ts';
import { oneOf, parse, readParameters, type Static, t } from '../../platform/http/schema.ts';

/** Decision: a variant's sides. */
const MIN_VARIANT_SIDE_PX = 16;
const MAX_VARIANT_SIDE_PX = 4_096;
/** Where codecs' own defaults lie: much smaller than the best, and hard to tell from it. */
const DEFAULT_VARIANT_QUALITY = 80;

export const VARIANT_FORMATS = ['webp', 'jpeg', 'png'] as const;
export type VariantFormat = (typeof VARIANT_FORMATS)[number];

const side = (what: string) =>
  t.Optional(
    t.Integer({
      minimum: MIN_VARIANT_SIDE_PX,
      maximum: MAX_VARIANT_SIDE_PX,
      description: `The ${what} of the box in pixels; ${MAX_VARIANT_SIDE_PX.toLocaleString('en')} where only the other side is given.`,
      example: 640,
    }),
  );

/** Any of these asks for a variant. */
export const variantQuery = t.Object({
  w: side('width'),
  h: side('height'),
  fit: t.Optional({
    ...oneOf(['inside', 'cover']),
    example: 'cover',
    description:
      '`inside` (without it) fits the whole image into the box; `cover` fills the box, of which both sides are needed, and crops from the middle. Nothing is scaled up: for a smaller image the box shrinks.',
  }),
  format: t.Optional({
    ...oneOf(VARIANT_FORMATS),
    example: 'webp',
    description: "Without it the source's, or PNG for GIF and BMP.",
  }),
  quality: t.Optional(
    t.Integer({
      minimum: 1,
      maximum: 100,
      example: 75,
      description: `${DEFAULT_VARIANT_QUALITY} without it. PNG has none.`,
    }),
  ),
});

/** A variant, as it was asked for. */
export interface VariantWishes {
  width: number;
  height: number;
  fit: 'inside' | 'cover';
  /** Null is the source's own. */
  format: VariantFormat | null;
  quality: number;
}

/** The variant that a query asks for; null where that is the file as it is. Throws AppError `invalid`. */
export function readVariantWishes(parameters: URLSearchParams): VariantWishes | null {
  if (!Object.keys(variantQuery.properties).some((name) => parameters.has(name))) return null;
  return toVariantWishes(parse(variantQuery, readParameters(variantQuery, parameters), { coerce: true }));
}

/** What is asked for, with what is meant where nothing is said. Throws AppError `invalid`. */
export function toVariantWishes(given: Static<typeof variantQuery>): VariantWishes {
  const { w, h, fit = 'inside', format = null, quality = DEFAULT_VARIANT_QUALITY } = given;
  if (fit === 'cover' && (w === undefined || h === undefined))
    throw invalid({ fit: ['cover needs both w and h'] });
  return { width: w ?? MAX_VARIANT_SIDE_PX, height: h ?? MAX_VARIANT_SIDE_PX, fit, format, quality };
}
