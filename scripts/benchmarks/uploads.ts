/** Uploads and downloads: one large file, many small ones, a lone uploader, a public object, a cold start. */
import { randomBytes } from 'node:crypto';
import { closeSync, copyFileSync, fsyncSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { join, resolve } from 'node:path';
import {
  BINARY,
  compare,
  latencies,
  load,
  makeKey,
  median,
  memoryMib,
  ms,
  type Row,
  rate,
  reported,
  row,
  type Satchel,
  scratchDir,
  spawnListening,
  startSatchel,
} from './harness.ts';

const LARGE_BYTES = 200 * 1024 * 1024;
const LARGE_PEAK_MIB = 120;
const RESUMABLE_BYTES = 1024 ** 3;
/** What pages behind a proxy with a limit send at once. */
const RESUMABLE_PART_BYTES = 64 * 1024 * 1024;
const SMALL_UPLOADS = 8_000;
const LONE_UPLOADS = 400;
const DOWNLOADS = 20_000;
const BASELINE = resolve(import.meta.dir, 'baseline.ts');

export async function measureUploads(): Promise<Row[]> {
  return [
    ...(await measureLargeUpload()),
    ...(await measureResumableUpload()),
    await measureSmallUploads(),
    await measureLoneUploader(),
    await measureDownloads(),
    ...(await measureStart()),
  ];
}

async function measureLargeUpload(): Promise<Row[]> {
  const dir = scratchDir();
  const source = join(dir, 'large');
  writeFileSync(source, randomBytes(LARGE_BYTES));
  const satchel = await startSatchel({ SATCHEL_MAX_UPLOAD_BYTES: String(LARGE_BYTES) });
  const key = await makeKey(satchel);
  const answer = join(dir, 'answer.json');
  const headers = { 'X-API-Key': key };
  const upload = async (): Promise<number> => {
    const started = performance.now();
    const curl = Bun.spawn(
      [
        'curl',
        '-sS',
        '-o',
        answer,
        '-w',
        '%{http_code}',
        '-H',
        `X-API-Key: ${key}`,
        '-F',
        `file=@${source}`,
        `${satchel.url}/api/v1/objects`,
      ],
      { stdout: 'pipe' },
    );
    const status = await new Response(curl.stdout).text();
    const taken = performance.now() - started;
    if (status !== '201') throw new Error(`the large upload answered ${status}`);
    const { public_id } = (await Bun.file(answer).json()) as { public_id: string };
    await fetch(`${satchel.url}/api/v1/objects/${public_id}`, { method: 'DELETE', headers });
    return taken;
  };
  // Both give their pages back afterwards: on a virtual machine, memory that was never used costs several times as much
  // to fill, and whoever comes second would have the first one's.
  const copy = async (): Promise<number> => {
    const target = join(dir, 'copy');
    const started = performance.now();
    copyFileSync(source, target);
    const file = openSync(target, 'r+');
    fsyncSync(file);
    closeSync(file);
    const taken = performance.now() - started;
    rmSync(target);
    return taken;
  };
  const taken = await compare(upload, copy, { warm_up: true });
  const peak = memoryMib(satchel.pid, 'VmHWM');
  await satchel.stop();
  return [
    row('upload of 200 MB against cp + fsync', {
      ours: ms(taken.ours),
      baseline: ms(taken.baseline),
      ratio: taken.ours / taken.baseline,
    }),
    reported(
      'peak memory of the server meanwhile',
      `${peak.toFixed(0)} MiB`,
      `<= ${LARGE_PEAK_MIB} MiB`,
      peak <= LARGE_PEAK_MIB,
    ),
  ];
}

/** The same file by a form and by tus: as one part, and as several. */
async function measureResumableUpload(): Promise<Row[]> {
  const dir = scratchDir();
  const source = join(dir, 'resumable');
  const block = randomBytes(RESUMABLE_PART_BYTES);
  const file = openSync(source, 'wx');
  for (let done = 0; done < RESUMABLE_BYTES; done += block.length) writeSync(file, block);
  closeSync(file);
  const satchel = await startSatchel({ SATCHEL_MAX_UPLOAD_BYTES: String(RESUMABLE_BYTES) });
  const key = await makeKey(satchel);
  const api = `${satchel.url}/api/v1`;
  const headers = { 'X-API-Key': key, 'Tus-Resumable': '1.0.0' };
  const timed = async (work: () => Promise<string>): Promise<number> => {
    const started = performance.now();
    const id = await work();
    const taken = performance.now() - started;
    const { status } = await fetch(`${api}/objects/${id}`, { method: 'DELETE', headers });
    if (status !== 200) throw new Error(`the file of an upload is not there: ${status}`);
    return taken;
  };
  const curl = async (...args: string[]): Promise<string> => {
    const usual = ['-sS', '-i', '-H', 'Expect:', '-H', `X-API-Key: ${key}`];
    return new Response(Bun.spawn(['curl', ...usual, ...args], { stdout: 'pipe' }).stdout).text();
  };
  const plain = () =>
    timed(async () => {
      const answer = await curl('-F', `file=@${source};type=application/x-bench`, `${api}/objects`);
      return /"public_id":"(\w+)"/.exec(answer)?.[1] ?? answer;
    });
  const begin = async (): Promise<string> => {
    const length = {
      'Upload-Length': String(RESUMABLE_BYTES),
      'Upload-Metadata': 'filetype YXBwbGljYXRpb24veC1iZW5jaA==',
    };
    const { headers: told } = await fetch(`${api}/uploads`, {
      method: 'POST',
      headers: { ...headers, ...length },
    });
    return `${satchel.url}${told.get('location')}`;
  };
  const whole = () =>
    timed(async () => {
      const sent = [
        'Tus-Resumable: 1.0.0',
        'Upload-Offset: 0',
        'Content-Type: application/offset+octet-stream',
      ];
      const args = ['-X', 'PATCH', '-T', source, ...sent.flatMap((header) => ['-H', header])];
      const answer = await curl(...args, await begin());
      return /^satchel-object: (\w+)/im.exec(answer)?.[1] ?? answer;
    });
  const inParts = () =>
    timed(async () => {
      const path = await begin();
      let id: string | null = null;
      for (let at = 0; at < RESUMABLE_BYTES; at += RESUMABLE_PART_BYTES) {
        const part = { 'Upload-Offset': String(at), 'Content-Type': 'application/offset+octet-stream' };
        const body = Bun.file(source).slice(at, at + RESUMABLE_PART_BYTES);
        const answer = await fetch(path, { method: 'PATCH', headers: { ...headers, ...part }, body });
        id = answer.headers.get('satchel-object');
      }
      return id ?? 'no file';
    });
  const speed = (ms_taken: number): string =>
    `${((RESUMABLE_BYTES / 1e6 / ms_taken) * 1000).toFixed(0)} MB/s`;
  const rowOf = async (what: string, ours: () => Promise<number>): Promise<Row> => {
    const taken = await compare(ours, plain, { warm_up: true });
    return row(what, {
      ours: speed(taken.ours),
      baseline: speed(taken.baseline),
      ratio: taken.baseline / taken.ours,
      at_least: 0.8,
    });
  };
  const rows = [
    await rowOf('resumable upload of 1 GiB against one by form', whole),
    await rowOf('the same in parts of 64 MiB', inParts),
  ];
  await satchel.stop();
  return rows;
}

async function measureSmallUploads(): Promise<Row> {
  const bytes = randomBytes(10_240);
  const satchel = await startSatchel({ SATCHEL_UPLOADS_PER_MINUTE: '1000000' });
  const key = await makeKey(satchel);
  const baseline = await spawnListening(['bun', BASELINE, 'upload', scratchDir()]);
  const ours = () =>
    load(SMALL_UPLOADS, 201, () => {
      const form = new FormData();
      form.set('file', new Blob([bytes], { type: 'application/x-bench' }), 'a.bin');
      return fetch(`${satchel.url}/api/v1/objects`, {
        method: 'POST',
        headers: { 'X-API-Key': key },
        body: form,
      });
    });
  const bare = () => load(SMALL_UPLOADS, 201, () => fetch(baseline.url, { method: 'POST', body: bytes }));
  const speed = await compare(ours, bare, { warm_up: true });
  await Promise.all([satchel.stop(), baseline.stop()]);
  return row('10 KB uploads, 32 at once, durable', {
    ours: rate(speed.ours),
    baseline: rate(speed.baseline),
    ratio: speed.ours / speed.baseline,
    at_least: 1,
  });
}

/** Nobody shares a flush with a lone uploader: it waits for the disk as often as the server does, one wait after the other. */
async function measureLoneUploader(): Promise<Row> {
  const bytes = randomBytes(10_240);
  const satchel = await startSatchel({ SATCHEL_UPLOADS_PER_MINUTE: '1000000' });
  const key = await makeKey(satchel);
  const dir = scratchDir();
  let files = 0;
  const upload = async (): Promise<number> => {
    const taken = await latencies(LONE_UPLOADS, () => {
      const form = new FormData();
      form.set('file', new Blob([bytes], { type: 'application/x-bench' }), 'a.bin');
      return fetch(`${satchel.url}/api/v1/objects`, {
        method: 'POST',
        headers: { 'X-API-Key': key },
        body: form,
      });
    });
    return median(taken);
  };
  const write = async (): Promise<number> => {
    const taken: number[] = [];
    for (let n = 0; n < LONE_UPLOADS; n += 1) {
      files += 1;
      const started = performance.now();
      const file = openSync(join(dir, `file-${files}`), 'wx', 0o600);
      writeSync(file, bytes);
      fsyncSync(file);
      closeSync(file);
      taken.push(performance.now() - started);
    }
    return median(taken);
  };
  const taken = await compare(upload, write, { warm_up: true });
  await satchel.stop();
  return row('10 KB uploads, one after the other, against write + fsync, median', {
    ours: ms(taken.ours),
    baseline: ms(taken.baseline),
    ratio: taken.ours / taken.baseline,
  });
}

async function measureDownloads(): Promise<Row> {
  const bytes = randomBytes(100 * 1024);
  const satchel = await startSatchel();
  const url = await uploadPublic(satchel, bytes);
  const dir = scratchDir();
  writeFileSync(join(dir, 'object'), bytes);
  const baseline = await spawnListening(['bun', BASELINE, 'file', dir]);
  const speed = await compare(
    () => load(DOWNLOADS, 200, () => fetch(url)),
    () => load(DOWNLOADS, 200, () => fetch(baseline.url)),
    { warm_up: true },
  );
  await Promise.all([satchel.stop(), baseline.stop()]);
  return row('GET of a public 100 KB object', {
    ours: rate(speed.ours),
    baseline: rate(speed.baseline),
    ratio: speed.ours / speed.baseline,
    at_least: 0.8,
  });
}

async function uploadPublic(satchel: Satchel, bytes: Uint8Array): Promise<string> {
  const key = await makeKey(satchel);
  const form = new FormData();
  form.set('file', new Blob([bytes], { type: 'application/x-bench' }), 'a.bin');
  form.set('visibility', 'public');
  const response = await fetch(`${satchel.url}/api/v1/objects`, {
    method: 'POST',
    headers: { 'X-API-Key': key },
    body: form,
  });
  const { public_id } = (await response.json()) as { public_id: string };
  return `${satchel.url}/api/v1/objects/${public_id}`;
}

async function measureStart(): Promise<Row[]> {
  const data_dir = scratchDir();
  await (await startSatchel({}, data_dir)).stop();
  const starts: number[] = [];
  let idle = 0;
  for (let n = 0; n < 5; n += 1) {
    const started = performance.now();
    const child = Bun.spawn([BINARY, 'serve', '--port', '18420'], {
      stdout: 'ignore',
      stderr: 'ignore',
      env: { SATCHEL_DATA_DIR: data_dir },
    });
    for (;;) {
      const health = await fetch('http://127.0.0.1:18420/api/health').catch(() => null);
      if (health?.ok) break;
      await Bun.sleep(1);
    }
    starts.push(performance.now() - started);
    await Bun.sleep(1_000);
    idle = memoryMib(child.pid, 'VmRSS');
    child.kill('SIGTERM');
    await child.exited;
  }
  const start = median(starts);
  return [
    reported('cold start to the first health answer', ms(start), 'aim at 80 ms', start <= 80),
    reported('idle memory', `${idle.toFixed(0)} MiB`, 'aim at 80 MiB', idle <= 80),
  ];
}
