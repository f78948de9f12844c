/**
 * Image variants: made of an object's bytes when they are first asked for, and kept as files beside the data: `variants/XX/` by the
 * last two characters of the object's id, which are random, each file named by the object and by what was asked for. All of it may
 * be lost: it is made again.
 */
import { createHash, randomUUID } from 'node:crypto';
import { mkdirSync, rmSync, statfsSync, statSync } from 'node:fs';
import { mkdir, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError, errorCodeOf, invalid, messageOf, notFound } from '../../errors.ts';
import { MAX_VARIANT_SOURCE_BYTES, VARIANT_REFUSAL_KEPT_MS, VARIANTS_FREE_DISK_BYTES } from '../../limits.ts';
import { bytesMissing } from '../../platform/files/byte-store.ts';
import { diskErrorOf } from '../../platform/files/file-sink.ts';
import { SECOND_MS, systemClock } from '../../platform/host/clock.ts';
import type { Logger } from '../../platform/host/logger.ts';
import { VariantProcesses } from './processes.ts';
import type { Refusal, VariantReply } from './protocol.ts';
import { Refusals } from './refusals.ts';
import { VARIANT_FORMATS, type VariantFormat, type VariantWishes } from './schemas.ts';

export { readVariantWishes, toVariantWishes, type VariantWishes, variantQuery } from './schemas.ts';

/** The object that a variant is made of. */
interface Source {
  readonly project_id: number;
  readonly public_id: string;
  readonly size_bytes: number;
  readonly sha256: string;
}

export interface Variant {
  path: string;
  size_bytes: number;
  mime_type: string;
  /** What its file name ends in, without the dot. */
  extension: string;
  /** What its bytes follow from, as an entity tag has it. */
  tag: string;
}

interface VariantsDeps {
  config: { data_dir: string; variants_max_bytes: number };
  logger: Logger;
  /** As `ObjectBytes.withFiles`. */
  withFiles<T>(
    files: readonly Source[],
    work: (paths: ReadonlyMap<string, string>) => Promise<T>,
  ): Promise<T>;
  /** Which of these objects there are. */
  listThere(public_ids: readonly string[]): string[];
}

/** Other bytes come of other codecs, and of another way of ours: their names and entity tags differ by this. */
const PIPELINE = `1-${Bun.version}-${process.arch}`;
/** How exactly it is known when a variant was last asked for. */
const USED_GRANULARITY_MS = 5 * SECOND_MS;
/** What was asked for within this time is on its way to somebody, and stays. */
const IN_USE_MS = 10 * SECOND_MS;
/** What stays, of what may be kept, where some has to go: then there is peace for a while. */
const KEPT_SHARE = 0.9;
/** What even the smallest file takes on the disk: without it there could be millions of them. */
const DISK_BLOCK_BYTES = 4_096;

const EXTENSIONS: Readonly<Record<VariantFormat, string>> = { webp: 'webp', jpeg: 'jpg', png: 'png' };

const REFUSALS: Readonly<Record<Refusal, string>> = {
  no_image: 'The file is no image that variants can be made of: JPEG, PNG, WebP, GIF or BMP.',
  unsupported: 'Variants are made of JPEG, PNG, WebP, GIF and BMP, and of no other image.',
  too_many_pixels: 'The image has more than 40 megapixels.',
  broken: 'The image is damaged, or of a rare kind that can not be read.',
};

export class Variants {
  readonly #deps: VariantsDeps;
  readonly #root: string;
  readonly #parts: string;
  readonly processes = new VariantProcesses();
  /** By the names of their files: each is made once, however many ask. */
  readonly #making = new Map<string, Promise<Variant>>();
  readonly #refusals = new Refusals();
  #sweeping: Promise<void> | null = null;
  /** What is kept, but for what was there before the first sweep. */
  #kept_bytes = 0;

  constructor(deps: VariantsDeps) {
    this.#deps = deps;
    this.#root = join(deps.config.data_dir, 'variants');
    this.#parts = join(this.#root, 'parts');
  }

  /**
   * The variant, made where it is not there. Throws AppError `invalid` for a source that none can be made of, `unavailable` where
   * it takes too long or too much memory, too many wait, the disk is full or the source's store is away, and `not_found` where the
   * source went meanwhile.
   */
  async get(source: Source, wishes: VariantWishes): Promise<Variant> {
    if (source.size_bytes > MAX_VARIANT_SOURCE_BYTES)
      throw invalid({ _: ['Variants are made of images of at most 32 MiB.'] });
    const name = nameOf(source, wishes);
    const under_way = this.#making.get(name);
    if (under_way) return under_way;
    const making = this.#findOrMake(source, wishes, name).finally(() => this.#making.delete(name));
    this.#making.set(name, making);
    return making;
  }

  async #findOrMake(source: Source, wishes: VariantWishes, name: string): Promise<Variant> {
    const tag = createHash('sha256').update(`${source.sha256} ${name}`).digest('hex');
    const formats = wishes.format ? [wishes.format] : VARIANT_FORMATS;
    for (const format of formats) {
      const found = await this.#find(source, name, format);
      if (found) return { ...found, tag };
    }
    this.#refusals.check(source.public_id, name);
    const made = await this.processes.inTurn(source.project_id, async (make) => {
      // Others may have been refused while this one waited.
      this.#refusals.check(source.public_id, name);
      const target = join(this.#parts, randomUUID());
      mkdirSync(this.#parts, { recursive: true, mode: 0o700 });
      const once = (): Promise<Omit<Variant, 'tag'>> =>
        this.#deps.withFiles([source], async (paths) => {
          const reply = await make({ ...wishes, source: paths.get(source.public_id) ?? '', target });
          return this.#keep(source, name, this.#judge(source, name, reply), target);
        });
      try {
        return await once();
      } catch (error) {
        if (!(error instanceof AppError) || error.kind !== 'not_found') throw error;
        // Its bytes may just have been moved to another place.
        return await once();
      } finally {
        rmSync(target, { force: true });
      }
    });
    return { ...made, tag };
  }

  async #find(source: Source, name: string, format: VariantFormat): Promise<Omit<Variant, 'tag'> | null> {
    const path = join(this.#folderOf(source.public_id), `${name}.${EXTENSIONS[format]}`);
    const there = await stat(path).catch(() => null);
    if (!there) return null;
    const now = systemClock.now();
    if (now - there.mtimeMs > USED_GRANULARITY_MS) await utimes(path, now / 1000, now / 1000).catch(() => {});
    return describe(path, format, there.size);
  }

  /** The format in which the variant was made. Throws the refusal, and remembers it. */
  #judge(source: Source, name: string, reply: VariantReply | null): VariantFormat {
    if (reply?.is === 'made') return reply.format;
    if (reply?.is === 'failed') {
      if (reply.code === 'ENOENT')
        throw this.#isThere(source) ? bytesMissing('not_found') : notFound('Object');
      throw diskErrorOf(Object.assign(new Error(reply.message), { code: reply.code }));
    }
    const error = reply ? invalid({ _: [REFUSALS[reply.why]] }) : tooHard();
    if (!reply) this.#deps.logger.warn('an image took too long or too much', { public_id: source.public_id });
    this.#refusals.add(reply ? source.public_id : name, error);
    throw error;
  }

  /** Gives a made variant its name. Throws 404 where the object was deleted meanwhile: whoever did saw no variant to delete. */
  async #keep(source: Source, name: string, format: VariantFormat, part: string) {
    const folder = this.#folderOf(source.public_id);
    const path = join(folder, `${name}.${EXTENSIONS[format]}`);
    try {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await rename(part, path);
    } catch (error) {
      throw diskErrorOf(error);
    }
    if (!this.#isThere(source)) {
      await this.remove([source.public_id]);
      throw notFound('Object');
    }
    const { size } = await stat(path);
    this.#kept_bytes += onDisk(size);
    if (this.#excess_bytes() > 0) void this.sweep();
    return describe(path, format, size);
  }

  #isThere({ public_id }: Source): boolean {
    return this.#deps.listThere([public_id]).length > 0;
  }

  /** What there is too much of: for the setting, or for a disk that others need. */
  #excess_bytes(): number {
    const { data_dir, variants_max_bytes } = this.#deps.config;
    const { bavail, bsize } = statfsSync(data_dir);
    const missing = Math.min(this.#kept_bytes, VARIANTS_FREE_DISK_BYTES - bavail * bsize);
    return Math.max(this.#kept_bytes - variants_max_bytes, missing);
  }

  /** Removes all variants of these objects, whose rows are gone. */
  async remove(public_ids: readonly string[]): Promise<void> {
    const gone = new Set(public_ids);
    for (const folder of new Set(public_ids.map((id) => this.#folderOf(id)))) {
      for (const name of await namesIn(folder))
        if (gone.has(idOf(name))) await rm(join(folder, name), { force: true });
    }
  }

  /** Removes what a crash left half made. */
  start(): void {
    rmSync(this.#parts, { recursive: true, force: true });
  }

  /** Ends what is under way. */
  stop(): void {
    this.processes.stop();
  }

  /** Removes variants of objects that are gone, and where there are too many, those that were not asked for the longest. */
  sweep(): Promise<void> {
    this.#sweeping ??= this.#sweep()
      .catch((error: unknown) =>
        this.#deps.logger.warn('image variants were not swept', { error: messageOf(error) }),
      )
      .finally(() => {
        this.#sweeping = null;
      });
    return this.#sweeping;
  }

  async #sweep(): Promise<void> {
    // What is made from here on is counted beside.
    this.#kept_bytes = 0;
    const found: { path: string; size: number; used_ms: number }[] = [];
    for (const shard of await namesIn(this.#root)) {
      if (!SHARD.test(shard)) continue;
      const folder = join(this.#root, shard);
      const names = await namesIn(folder);
      const there = new Set(this.#deps.listThere([...new Set(names.map(idOf))]));
      for (const name of names) {
        const path = join(folder, name);
        const is = await stat(path).catch(() => null);
        if (!is) continue;
        if (there.has(idOf(name))) found.push({ path, size: onDisk(is.size), used_ms: is.mtimeMs });
        else await rm(path, { force: true });
      }
    }
    this.#kept_bytes += found.reduce((sum, { size }) => sum + size, 0);
    const excess = this.#excess_bytes();
    if (excess <= 0) return;
    let to_go = excess + this.#deps.config.variants_max_bytes * (1 - KEPT_SHARE);
    for (const { path, size } of found.toSorted((a, b) => a.used_ms - b.used_ms)) {
      if (to_go <= 0) return;
      // In one turn: nobody is told of it in between.
      const used_ms = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
      if (used_ms === undefined || systemClock.now() - used_ms < IN_USE_MS) continue;
      rmSync(path, { force: true });
      this.#kept_bytes -= size;
      to_go -= size;
    }
  }

  #folderOf(public_id: string): string {
    return join(this.#root, public_id.slice(-2));
  }
}

const SHARD = /^[0-9A-Z]{2}$/;

/** What the variants in a data directory take on its disk. */
export async function measureVariants(data_dir: string): Promise<{ count: number; bytes: number }> {
  const root = join(data_dir, 'variants');
  let count = 0;
  let bytes = 0;
  for (const shard of await namesIn(root)) {
    for (const name of await namesIn(join(root, shard))) {
      count += 1;
      bytes += onDisk((await stat(join(root, shard, name)).catch(() => null))?.size ?? 0);
    }
  }
  return { count, bytes };
}

function nameOf({ public_id }: Source, { width, height, fit, format, quality }: VariantWishes): string {
  return `${public_id}-${width}x${height}-${fit}-${format ?? 'source'}-${quality}-${PIPELINE}`;
}

function idOf(name: string): string {
  return name.slice(0, 26);
}

function describe(path: string, format: VariantFormat, size_bytes: number): Omit<Variant, 'tag'> {
  return { path, size_bytes, mime_type: `image/${format}`, extension: EXTENSIONS[format] };
}

function onDisk(size_bytes: number): number {
  return Math.ceil(size_bytes / DISK_BLOCK_BYTES) * DISK_BLOCK_BYTES;
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return [];
    throw error;
  }
}

function tooHard(): AppError {
  return new AppError(
    'unavailable',
    'The image takes too long or too much memory to be made. Try again later.',
    {
      retry_after_s: VARIANT_REFUSAL_KEPT_MS / SECOND_MS,
    },
  );
}
