/** Cuts a piece out of an image, or sets it on a canvas: the runtime's pipeline can do neither. */
import { BYTES_A_PIXEL, eachPlainRow, PlainPng, RGB, RGBA, readPlainHead, type Sides } from './plain-png.ts';

/** Where the new image lies on the old one. What reaches beyond that is transparent. */
export interface Piece extends Sides {
  left: number;
  top: number;
}

/**
 * A piece of a PNG as the pipeline writes it uncompressed, or all of it, as another such PNG; where it is to be
 * on white, nothing in it is transparent. The colour profile stays.
 */
export async function repaint(
  png: Uint8Array,
  { piece, is_on_white }: { piece: Piece | null; is_on_white: boolean },
): Promise<Buffer> {
  const { profile, ...source } = readPlainHead(png);
  const { left, top, width, height } = piece ?? { left: 0, top: 0, ...source };
  const target = new PlainPng({ width, height }, is_on_white ? RGB : RGBA, profile ? { iCCP: profile } : {});
  const row = Buffer.alloc(width * BYTES_A_PIXEL);
  const on_white = is_on_white ? Buffer.alloc(width * 3) : null;
  const addRow = (): void => {
    if (on_white) layOnWhite(row, on_white);
    target.addRow(on_white ?? row);
  };
  const from = Math.max(0, left) * BYTES_A_PIXEL;
  const end = Math.max(0, Math.min(source.width, left + width)) * BYTES_A_PIXEL;
  const at = Math.max(0, -left) * BYTES_A_PIXEL;
  for (let y = top; y < Math.min(0, top + height); y += 1) addRow();
  await eachPlainRow(png, source, (pixels, y) => {
    if (y < top || y >= top + height) return;
    if (from < end) pixels.copy(row, at, from, end);
    addRow();
  });
  row.fill(0);
  for (let y = Math.max(top, source.height); y < top + height; y += 1) addRow();
  return target.finish();
}

/** As a format without transparency shows it. */
function layOnWhite(pixels: Buffer, on_white: Buffer): void {
  for (let from = 0, to = 0; from < pixels.length; from += BYTES_A_PIXEL, to += 3) {
    const alpha = pixels[from + 3] ?? 0;
    for (let part = 0; part < 3; part += 1) {
      const colour = pixels[from + part] ?? 0;
      on_white[to + part] = alpha === 255 ? colour : Math.round((colour * alpha) / 255) + 255 - alpha;
    }
  }
}
