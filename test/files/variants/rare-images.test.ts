/** Image variants of what the runtime's pipeline alone does not read, or reads otherwise than browsers do. */
import { describe, expect, test } from 'bun:test';
import {
  bmpOf,
  corners,
  gif,
  look,
  png,
  quarters,
  seeThroughPng,
  webpAnimation,
} from '../../support/images.ts';
import { startVariants } from './stage.ts';

const { upload, of, errorsOf } = await startVariants();

describe('a variant of an animation whose first frame is smaller than its canvas', () => {
  const CANVAS = { width: 120, height: 80 };
  const PALETTE = [
    [0, 0, 0],
    [255, 0, 0],
    [0, 255, 0],
    [0, 0, 255],
  ] as const;
  const whole = { left: 0, top: 0, ...CANVAS, at: () => 2 };
  /** Red, but for a hole in its first eight pixels. */
  const frame = {
    ...{ left: 60, top: 40, width: 40, height: 30, disposal: 2 },
    at: (x: number, y: number) => (x < 8 && y < 8 ? 0 : 1),
  };
  const NOTHING = [0, 0, 0, 0];
  const RED = [255, 0, 0, 255];
  const WHITE = [255, 255, 255, 255];
  /** A JPEG is never exact. */
  const nearest = (pixel: unknown) =>
    Array.isArray(pixel) && pixel.map((part) => (part < 8 ? 0 : part > 247 ? 255 : part));
  const pixels = async (file: Uint8Array, query: string, ...places: [number, number][]) => {
    const { status, bytes, headers } = await of(await upload(file), query);
    expect([status, status === 200 ? '' : new TextDecoder().decode(bytes)]).toEqual([200, '']);
    const seen = await look(bytes);
    const sides = `${headers.get('content-type')} ${seen.width}x${seen.height}`;
    return [sides, ...places.map(([x, y]) => seen.at(x, y))];
  };

  test.each([
    ['as it is', {}],
    ['interlaced', { is_interlaced: true }],
    [
      'with a palette of its own',
      {
        palette: [
          [0, 255, 0],
          [255, 0, 0],
          [0, 0, 0],
          [0, 0, 0],
        ] as const,
      },
    ],
    ['that goes after it', { disposal: 3 }],
  ])('a GIF, %s: it stands where it belongs, and nothing is around it', async (_, special) => {
    const file = gif(CANVAS, PALETTE, { ...frame, ...special }, whole);
    expect(
      await pixels(file, 'w=120', [59, 39], [60, 40], [68, 40], [60, 48], [99, 69], [100, 69], [10, 10]),
    ).toEqual(['image/png 120x80', NOTHING, NOTHING, RED, RED, RED, NOTHING, NOTHING]);
    expect(await pixels(file, 'w=60', [45, 30], [5, 5])).toEqual(['image/png 60x40', RED, NOTHING]);
    const [sides, around, hole, red] = await pixels(file, 'format=jpeg', [10, 10], [63, 43], [90, 60]);
    expect([sides, ...[around, hole, red].map(nearest)]).toEqual([
      'image/jpeg 120x80',
      ...[WHITE, WHITE, RED],
    ]);
  });

  test('a GIF on a canvas that is lower or narrower than it: that is its own', async () => {
    for (const canvas of [
      { width: 39, height: 300 },
      { width: 300, height: 29 },
      { width: 0, height: 0 },
    ])
      expect(await pixels(gif(canvas, PALETTE, frame), 'format=png', [20, 20])).toEqual([
        'image/png 40x30',
        RED,
      ]);
  });

  test('what reaches beyond the canvas is cut off', async () => {
    const file = gif({ width: 80, height: 50 }, PALETTE, frame);
    expect(await pixels(file, 'format=png', [59, 45], [79, 49], [79, 39])).toEqual([
      'image/png 80x50',
      NOTHING,
      RED,
      NOTHING,
    ]);
    const beyond = gif({ width: 50, height: 35 }, PALETTE, frame);
    expect(await pixels(beyond, 'format=png', [0, 0], [49, 34])).toEqual([
      'image/png 50x35',
      NOTHING,
      NOTHING,
    ]);
  });

  test('a WebP, without loss or with, opaque or not', async () => {
    const source = seeThroughPng(41, 31, (x) => (x < 20 ? [255, 0, 0, 255] : [255, 0, 0, 128]));
    const opaque = png(41, 31, () => [255, 0, 0]);
    const green = await new Bun.Image(png(120, 80, () => [0, 255, 0])).webp().bytes();
    for (const [image, half] of [
      [await new Bun.Image(source).webp({ lossless: true }).bytes(), 128],
      [await new Bun.Image(source).webp({ quality: 90 }).bytes(), 128],
      [await new Bun.Image(opaque).webp({ quality: 90 }).bytes(), 255],
    ] as const) {
      const file = await webpAnimation(
        CANVAS,
        { left: 60, top: 40, image },
        { left: 0, top: 0, image: green },
      );
      const alphas = (seen: unknown[]) => seen.map((each) => (Array.isArray(each) ? each[3] : each));
      expect(
        alphas(await pixels(file, 'format=png', [59, 50], [61, 41], [99, 69], [101, 71], [10, 10])),
      ).toEqual(['image/png 120x80', 0, 255, half, 0, 0]);
      // Without a format it stays one.
      expect(alphas(await pixels(file, 'w=60', [33, 23], [5, 5]))).toEqual(['image/webp 60x40', 255, 0]);
      expect(await pixels(file, 'format=jpeg', [10, 10])).toEqual(['image/jpeg 120x80', WHITE]);
    }
  });

  test('its sides and limits are those of the canvas', async () => {
    const image = await new Bun.Image(png(16, 16, () => [255, 0, 0])).webp().bytes();
    const files = [
      gif({ width: 65_000, height: 1_000 }, PALETTE, frame),
      await webpAnimation({ width: 8_000, height: 5_001 }, { left: 0, top: 0, image }),
    ];
    for (const file of files)
      expect(JSON.stringify(await errorsOf(await upload(file), 'w=32'))).toMatch(/40 megapixels/);
    const wide = gif({ width: 40_000, height: 40 }, PALETTE, frame);
    expect(await pixels(wide, 'w=4000', [0, 0])).toEqual(['image/png 4000x4', NOTHING]);
    const inside = gif(CANVAS, PALETTE, frame);
    expect(await pixels(inside, 'w=40&h=40&fit=cover')).toEqual(['image/png 40x40']);
  });
});

test('a variant as a JPEG lies on white where its source is transparent, whatever that is, and its edges do not darken', async () => {
  const half = seeThroughPng(64, 64, (x) => (x < 32 ? [230, 230, 230, 255] : [0, 0, 0, 0]));
  const sources = [
    half,
    await new Bun.Image(half).webp({ lossless: true }).bytes(),
    await new Bun.Image(half).webp({ quality: 90 }).bytes(),
  ];
  for (const file of sources) {
    const id = await upload(file);
    for (const query of ['format=jpeg&quality=100', 'w=33&format=jpeg&quality=100']) {
      const { width, height, at } = await look((await of(id, query)).bytes);
      const row = Array.from({ length: width }, (_, x) => at(x, height >> 1));
      expect(row.at(-1)).toEqual([255, 255, 255, 255]);
      // From red to white it only gets lighter: red stays full.
      // From light to white nothing is darker than either.
      expect(Math.min(...row.map(([red = 0]) => red))).toBeGreaterThan(210);
    }
    const cut = await look((await of(id, 'w=20&h=40&fit=cover&format=jpeg')).bytes);
    expect([cut.at(1, 20)[1], cut.at(18, 20)]).toEqual([expect.any(Number), [255, 255, 255, 255]]);
  }
});

test('a variant of a JPEG as a JPEG is not painted anew', async () => {
  const jpeg = await new Bun.Image(png(64, 48, quarters)).jpeg({ quality: 90 }).bytes();
  const { bytes } = await of(await upload(jpeg), 'w=64');
  expect(bytes).toEqual(await new Bun.Image(jpeg).resize(64, 48).jpeg({ quality: 80 }).bytes());
});

describe('a variant of a BMP', () => {
  const PALETTE = [
    [255, 0, 255],
    [0, 0, 255],
    [255, 0, 0],
    [0, 0, 0],
  ] as const;
  const quarter = (x: number, y: number): number => (x < 33 ? 0 : 1) + (y < 24 ? 0 : 2);
  const sides = { width: 65, height: 48 };
  const shown = async (file: Buffer) => corners((await of(await upload(file), 'w=65&format=png')).bytes);

  test.each([
    [12, false],
    [40, false],
    [40, true],
    [108, false],
  ] as const)(
    'with a palette (a header of %d bytes, top first: %p) has its colours',
    async (header_bytes, is_top_first) => {
      for (const bits of [4, 8] as const) {
        const file = bmpOf({ ...sides, bits, at: quarter, palette: PALETTE, header_bytes, is_top_first });
        // OS/2's says nothing of its length.
        if (header_bytes === 12) file.writeUInt32LE(file.readUInt32LE(10), 10);
        expect(await shown(file)).toBe('mbrk');
      }
      const two = bmpOf({
        ...{ ...sides, bits: 1, palette: [PALETTE[0], PALETTE[1]], header_bytes, is_top_first },
        at: (x) => (x < 33 ? 0 : 1),
      });
      expect(await shown(two)).toBe('mbmb');
    },
  );

  test('of 16 bits has them by 5-5-5 or its own bit fields, alpha too', async () => {
    const word = (x: number, y: number): number => (x < 33 ? 0x7c00 : 0) | (y < 24 ? 0x1f : 0);
    const of565 = (x: number, y: number): number => (x < 33 ? 0xf800 : 0) | (y < 24 ? 0x1f : 0);
    for (const is_top_first of [false, true]) {
      expect(await shown(bmpOf({ ...sides, bits: 16, at: word, is_top_first }))).toBe('mbrk');
      const masks = [0xf800, 0x07e0, 0x001f];
      expect(await shown(bmpOf({ ...sides, bits: 16, at: of565, masks, is_top_first }))).toBe('mbrk');
    }
    const file = bmpOf({
      ...{ ...sides, bits: 16, header_bytes: 108, masks: [0x0f00, 0x00f0, 0x000f, 0xf000] },
      at: (x) => (x < 33 ? 0xff00 : 0x8f00),
    });
    const { bytes } = await of(await upload(file), 'w=65');
    const { at } = await look(bytes);
    expect([at(2, 2), at(60, 2)]).toEqual([
      [255, 0, 0, 255],
      [255, 0, 0, 136],
    ]);
    const jpeg = await look((await of(await upload(file), 'w=65&format=jpeg')).bytes);
    expect(jpeg.at(60, 2).map((part) => Math.round(part / 10))).toEqual([26, 12, 12, 26]);
  });

  test('what the palette lacks is black', async () => {
    const file = bmpOf({ ...sides, bits: 8, at: (x) => (x < 33 ? 0 : 200), palette: [PALETTE[0]] });
    expect(await shown(file)).toBe('mkmk');
  });

  test('is refused where it is compressed, cut short, or too large', async () => {
    const plain = { ...sides, bits: 8, at: quarter, palette: PALETTE } as const;
    const whole = bmpOf(plain);
    for (const [file, message] of [
      [bmpOf({ ...plain, compression: 1 }), /damaged, or of a rare kind/],
      [bmpOf({ ...plain, bits: 4, compression: 2 }), /damaged, or of a rare kind/],
      [bmpOf({ ...plain, compression: 3 }), /damaged, or of a rare kind/],
      [whole.subarray(0, -1), /damaged, or of a rare kind/],
      [whole.subarray(0, 60), /damaged, or of a rare kind/],
      [Buffer.from(whole).fill(0x7f, 20, 21), /40 megapixels|damaged/],
      [bmpOf({ width: 1, height: 1, bits: 1, at: () => 0 }).fill(0xff, 18, 20), /damaged/],
    ] as const)
      expect(JSON.stringify(await errorsOf(await upload(file), 'w=32'))).toMatch(message);
    const bomb = bmpOf({ width: 1, height: 1, bits: 1, at: () => 0 });
    bomb.writeInt32LE(40_000, 18);
    bomb.writeInt32LE(-40_000, 22);
    expect(JSON.stringify(await errorsOf(await upload(bomb), 'w=32'))).toMatch(/40 megapixels/);
  });
});

test('a variant of a PNG that is made for iOS alone is refused as one that can’t be read', async () => {
  const plain = png(64, 48, quarters);
  const cgbi = Buffer.from('000000044367424930002006a3e2b6b2', 'hex');
  const file = Buffer.concat([plain.subarray(0, 8), cgbi, plain.subarray(8)]);
  expect(JSON.stringify(await errorsOf(await upload(file), 'w=32'))).toMatch(/can not be read/);
});
