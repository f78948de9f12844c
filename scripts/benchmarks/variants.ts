/** Image variants against the runtime's pipeline alone, and what others wait while hard ones are made. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  compare,
  latencies,
  makeKey,
  median,
  ms,
  percentile,
  type Row,
  reported,
  request,
  row,
  type Satchel,
  scratchDir,
  startSatchel,
} from './harness.ts';

const VARIANTS = 10;
const READS = 500;
const READ_PAUSE_MS = 5;

/** A JPEG with the detail of a photo: waves and some noise. */
async function photo(width: number, height: number): Promise<Uint8Array> {
  const row = Math.ceil((width * 3) / 4) * 4;
  const bmp = Buffer.alloc(54 + row * height);
  bmp.write('BM');
  for (const [at, value] of [
    [2, bmp.length],
    [10, 54],
    [14, 40],
    [18, width],
    [22, height],
    [26, 1 + (24 << 16)],
  ] as const)
    bmp.writeUInt32LE(value, at);
  for (let y = 0; y < height; y += 1)
    for (let x = 0; x < width; x += 1) {
      const wave = 128 + 90 * Math.sin(x / 37) * Math.cos(y / 53);
      const noise = (x * 7919 + y * 104_729) % 16;
      bmp.set([wave + noise, 255 - wave, (x >> 4) & 255], 54 + y * row + 3 * x);
    }
  return new Bun.Image(bmp).jpeg({ quality: 90 }).bytes();
}

async function upload({ url }: Satchel, key: string, bytes: Uint8Array): Promise<string> {
  const form = new FormData();
  form.set('file', new Blob([Buffer.from(bytes)]), 'photo.jpg');
  form.set('visibility', 'public');
  const headers = { 'X-API-Key': key };
  const answer = await request(`${url}/api/v1/objects`, { method: 'POST', headers, body: form });
  const { public_id } = (await answer.json()) as { public_id: string };
  return `${url}/api/v1/objects/${public_id}`;
}

export async function measureVariants(): Promise<Row[]> {
  const satchel = await startSatchel({ SATCHEL_MAX_UPLOAD_BYTES: '100000000' });
  const key = await makeKey(satchel);
  const rows = [await measureOne(satchel, key), await measureOthers(satchel, key)];
  await satchel.stop();
  return rows;
}

async function measureOne(satchel: Satchel, key: string): Promise<Row> {
  const bytes = await photo(4000, 3000);
  const path = join(scratchDir(), 'photo.jpg');
  writeFileSync(path, bytes);
  const timed = async (each: () => Promise<unknown>): Promise<number> => {
    const taken: number[] = [];
    for (let n = 0; n < VARIANTS; n += 1) {
      const started = performance.now();
      await each();
      taken.push(performance.now() - started);
    }
    return median(taken);
  };
  const taken = await compare(
    async () => {
      // Each of a file of its own, so that it is made.
      const urls: string[] = [];
      for (let n = 0; n < VARIANTS; n += 1) urls.push(await upload(satchel, key, bytes));
      return timed(async () => {
        const answer = await request(`${urls.pop()}?w=640&format=webp`);
        if (!answer.ok) throw new Error(`a variant was answered ${answer.status}`);
        await answer.arrayBuffer();
      });
    },
    () => timed(() => new Bun.Image(path).resize(640, 640, { fit: 'inside' }).webp({ quality: 80 }).bytes()),
    { warm_up: true },
  );
  return row('12 megapixel JPEG to WebP of 640 px, against the pipeline alone, median', {
    ours: ms(taken.ours),
    baseline: ms(taken.baseline),
    ratio: taken.ours / taken.baseline,
    at_most: 1.5,
  });
}

async function measureOthers(satchel: Satchel, key: string): Promise<Row> {
  const small = await upload(satchel, key, Buffer.alloc(10_000, 'x'));
  const hard = await upload(satchel, key, await photo(7000, 5700));
  let is_over = false;
  const asking = Array.from({ length: 4 }, async (_, worker) => {
    for (let n = 0; !is_over; n += 1)
      await (await fetch(`${hard}?w=${4096 - 4 * n - worker}&format=png`)).arrayBuffer();
  });
  const taken = await latencies(READS, () => fetch(small), READ_PAUSE_MS);
  is_over = true;
  await Promise.all(asking);
  const p99 = percentile(taken, 0.99);
  return reported('GET of 10 KB while hard variants are made, p99', ms(p99), '< 20 ms', p99 < 20);
}
