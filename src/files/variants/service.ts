/**
 * Image variants: made of an object's bytes on demand, and kept as files `variants/XX/`, by the last two
 * characters of the object's id, which are random. A file is named by the object and the wishes. All of them
 * may be lost: they are made again.
 */

import { createHash, randomUUID } from 'node:crypto';
import { mkdirSync, rmSync, statfsSync } from 'node:fs';
import { mkdir, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError, errorCodeOf, invalid, messageOf, notFound } from '../../errors.ts';
import {
  MAX_VARIANT_SOURCE_BYTES,
  VARIANT_QUEUE_RETRY_AFTER_S,
  VARIANT_REFUSAL_KEPT_MS,
} from '../../limits.ts';
import { diskErrorOf } from '../../platform/files/file-sink.ts';
import { bytesMissing } from '../../platform/files/store.ts';
import { monotonicMs, SECOND_MS, systemClock } from '../../platform/host/clock.ts';
import { type Finding, type HealthCheck, ok } from '../../platform/host/health-check.ts';
import type { Logger } from '../../platform/host/logger.ts';
import { letOthers } from '../../platform/host/waiting.ts';
import { VariantProcesses } from './processes.ts';
import type { Refusal, VariantJob, VariantReply } from './protocol.ts';
import { VARIANT_FORMATS, type VariantFormat, type VariantWishes } from './schemas.ts';

export { readVariantWishes, toVariantWishes, type VariantWishes, variantQuery } from './schemas.ts';

/** Decision: variants give way at this little room on the disk, before writes fail. */
const VARIANTS_FREE_DISK_BYTES = 256 * 1024 * 1024;

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

type Made = Omit<Variant, 'tag'>;

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

/** Other codecs and other code of ours make other bytes: names and entity tags hold this. */
const PIPELINE = `2-${Bun.version}-${process.arch}`;
/** How exactly it is known when a variant was last asked for. */
const USED_GRANULARITY_MS = 5 * SECOND_MS;
/** What somebody was given within this time may not have been opened yet, and stays. */
const GIVEN_MS = SECOND_MS;
/** What stays, of what may be kept, where some has to go: then there is peace for a while. */
const KEPT_SHARE = 0.9;
/** Decision: what there may be, of what may be kept, while room is made. */
const MOST_SHARE = 1.1;
/** How long a made variant waits for room, and how often it looks: files that were given out stay a while. */
const ROOM_WAIT_MS = 3 * SECOND_MS;
const ROOM_LOOK_MS = 50;
/** Files removed in one turn, of some 20 microseconds each. */
const REMOVED_AT_ONCE = 20;
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
  readonly #root: string;
  readonly #parts: string;
  readonly processes = new VariantProcesses();
  /** By the names of their files: each is made once, however many ask. */
  readonly #making = new Map<string, Promise<Made>>();
  readonly #refusals = new Refusals();
  readonly #given = new Given();
  #sweeping: Promise<void> | null = null;
  /** What is kept; null before the first sweep has counted it. */
  #kept_bytes: number | null = null;
  /** Paths that have room but no name yet; and what was kept since the sweep that is under way began. */
  readonly #coming = new Map<string, number>();
  #added = new Map<string, number>();
  /** What waits for room. */
  #wanted_bytes = 0;

  constructor(private readonly deps: VariantsDeps) {
    this.#root = join(deps.config.data_dir, 'variants');
    this.#parts = join(this.#root, 'parts');
  }

  /**
   * The variant for a caller at this address, made where it is missing. Throws AppError `invalid` for a
   * source that none can be made of; `rate_limited` where too many wait at that address; `unavailable` where
   * it takes too long or too much memory, too many wait, there is no room, the disk is full or the store is
   * away; `not_found` where the source went meanwhile.
   */
  async get(source: Source, wishes: VariantWishes, ip: string | null): Promise<Variant> {
    if (source.size_bytes > MAX_VARIANT_SOURCE_BYTES)
      throw invalid({ _: ['Variants are made of images of at most 32 MiB.'] });
    const name = nameOf(source, wishes);
    const tag = createHash('sha256').update(`${source.sha256} ${name}`).digest('hex');
    const found = await this.#find(source, wishes, name);
    if (found) return { ...found, tag };
    let making = this.#making.get(name);
    if (!making) {
      this.#refusals.check(source.public_id, name);
      const { project_id } = source;
      // Whoever may not wait has this thrown here, and not those who ask for the same.
      making = this.processes
        .inTurn({ project_id, ip }, (make) => this.#make(source, wishes, name, make))
        .finally(() => this.#making.delete(name));
      this.#making.set(name, making);
    }
    const made = await making;
    this.#given.add(made.path);
    return { ...made, tag };
  }

  async #make(
    source: Source,
    wishes: VariantWishes,
    name: string,
    make: (job: Omit<VariantJob, 'memory_bytes'>) => Promise<VariantReply | null>,
  ): Promise<Made> {
    // Others may have been refused, or had it made, while this one waited.
    this.#refusals.check(source.public_id, name);
    const found = await this.#find(source, wishes, name);
    if (found) return found;
    const target = join(this.#parts, randomUUID());
    mkdirSync(this.#parts, { recursive: true, mode: 0o700 });
    const once = (): Promise<Made> =>
      this.deps.withFiles([source], async (paths) => {
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
  }

  async #find(source: Source, wishes: VariantWishes, name: string): Promise<Made | null> {
    for (const format of wishes.format ? [wishes.format] : VARIANT_FORMATS) {
      const path = join(this.#folderOf(source.public_id), `${name}.${EXTENSIONS[format]}`);
      // From here on it stays, if it is there.
      this.#given.add(path);
      const there = await stat(path).catch(() => null);
      if (!there) continue;
      const now = systemClock.now();
      if (now - there.mtimeMs > USED_GRANULARITY_MS)
        await utimes(path, now / 1000, now / 1000).catch(() => {});
      return describe(path, format, there.size);
    }
    return null;
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
    if (!reply) this.deps.logger.warn('an image took too long or too much', { public_id: source.public_id });
    this.#refusals.add(reply ? source.public_id : name, error);
    throw error;
  }

  /** Names a made variant. Throws 404 where the object was deleted before there was a file to delete. */
  async #keep(source: Source, name: string, format: VariantFormat, part: string) {
    const folder = this.#folderOf(source.public_id);
    const path = join(folder, `${name}.${EXTENSIONS[format]}`);
    try {
      const { size } = await stat(part);
      await this.#takeRoom(name, path, onDisk(size));
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await rename(part, path);
      if (this.#excess_bytes() > 0) void this.sweep();
      if (this.#isThere(source)) return describe(path, format, size);
    } catch (error) {
      throw diskErrorOf(error);
    } finally {
      this.#coming.delete(path);
    }
    await this.remove([source.public_id]);
    throw notFound('Object');
  }

  /** Counts bytes as kept once there is room for them. Throws AppError `unavailable` where none comes. */
  async #takeRoom(name: string, path: string, bytes: number): Promise<void> {
    const most = this.deps.config.variants_max_bytes * MOST_SHARE;
    if (bytes > most) {
      const error = noRoom(true);
      this.#refusals.add(name, error);
      this.deps.logger.warn('an image variant is larger than SATCHEL_VARIANTS_MAX_BYTES', { bytes });
      throw error;
    }
    const give_up_ms = monotonicMs() + ROOM_WAIT_MS;
    this.#wanted_bytes += bytes;
    try {
      while (this.#kept_bytes === null || this.#kept_bytes + bytes > most) {
        if (monotonicMs() > give_up_ms) throw noRoom(false);
        void this.sweep();
        await Bun.sleep(ROOM_LOOK_MS);
      }
    } finally {
      this.#wanted_bytes -= bytes;
    }
    this.#kept_bytes += bytes;
    this.#coming.set(path, bytes);
    this.#added.set(path, bytes);
    this.#given.add(path);
  }

  #isThere({ public_id }: Source): boolean {
    return this.deps.listThere([public_id]).length > 0;
  }

  /** What there is too much of: for the setting, or for a disk that others need. */
  #excess_bytes(): number {
    const kept_bytes = this.#kept_bytes ?? 0;
    const { data_dir, variants_max_bytes } = this.deps.config;
    const { bavail, bsize } = statfsSync(data_dir);
    const missing = Math.min(kept_bytes, VARIANTS_FREE_DISK_BYTES - bavail * bsize);
    return Math.max(kept_bytes + this.#wanted_bytes - variants_max_bytes, missing);
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

  /** Removes variants of objects that are gone and, where there are too many, those unused the longest. */
  sweep(): Promise<void> {
    this.#sweeping ??= this.#sweep()
      .catch((error: unknown) =>
        this.deps.logger.warn('image variants were not swept', { error: messageOf(error) }),
      )
      .finally(() => {
        this.#sweeping = null;
      });
    return this.#sweeping;
  }

  async #sweep(): Promise<void> {
    this.#added = new Map(this.#coming);
    const found: Kept[] = [];
    for (const shard of await namesIn(this.#root)) {
      if (!SHARD.test(shard)) continue;
      const folder = join(this.#root, shard);
      const names = await namesIn(folder);
      const there = new Set(this.deps.listThere([...new Set(names.map(idOf))]));
      const looked_at = names.map(async (name) => {
        const path = join(folder, name);
        if (!there.has(idOf(name))) await rm(path, { force: true });
        else {
          const is = await stat(path).catch(() => null);
          if (!is || this.#added.has(path)) return;
          const used_ms = this.#given.has(path) ? systemClock.now() : is.mtimeMs;
          found.push({ path, bytes: onDisk(is.size), used_ms });
        }
      });
      await Promise.all(looked_at);
    }
    for (const [path, bytes] of this.#added) found.push({ path, bytes, used_ms: systemClock.now() });
    this.#kept_bytes = bytesOf(found, Number.POSITIVE_INFINITY);
    const excess = this.#excess_bytes();
    if (excess > 0)
      await this.#makeRoom(found, excess + this.deps.config.variants_max_bytes * (1 - KEPT_SHARE));
  }

  /** Removes so many bytes, of those that were not asked for the longest. */
  async #makeRoom(found: readonly Kept[], bytes: number): Promise<void> {
    const until_ms = await ageOf(found, bytes);
    let to_go = bytes;
    let removed = 0;
    for (const { path, bytes, used_ms } of found) {
      if (to_go <= 0) return;
      // In one turn: nobody is given it in between.
      if (used_ms > until_ms || this.#given.has(path)) continue;
      rmSync(path, { force: true });
      this.#kept_bytes = Math.max(0, (this.#kept_bytes ?? 0) - bytes);
      to_go -= bytes;
      removed += 1;
      if (removed % REMOVED_AT_ONCE === 0) await letOthers();
    }
  }

  #folderOf(public_id: string): string {
    return join(this.#root, public_id.slice(-2));
  }
}

interface Kept {
  path: string;
  bytes: number;
  used_ms: number;
}

function bytesOf(found: readonly Kept[], until_ms: number): number {
  return found.reduce((sum, { bytes, used_ms }) => (used_ms <= until_ms ? sum + bytes : sum), 0);
}

/** Since when the rest was used, if so many bytes go. It halves the time: sorting would block. */
async function ageOf(found: readonly Kept[], bytes: number): Promise<number> {
  let [low, high] = [0, Number.MAX_SAFE_INTEGER];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (bytesOf(found, middle) < bytes) low = middle;
    else high = middle;
    await letOthers();
  }
  return high;
}

/** The paths that somebody was given a moment ago, the oldest first. */
class Given {
  readonly #at = new Map<string, number>();

  add(path: string): void {
    const now_ms = monotonicMs();
    this.#at.delete(path);
    this.#at.set(path, now_ms);
    for (const [oldest, at_ms] of this.#at) {
      if (at_ms > now_ms - GIVEN_MS) return;
      this.#at.delete(oldest);
    }
  }

  has(path: string): boolean {
    return (this.#at.get(path) ?? Number.NEGATIVE_INFINITY) > monotonicMs() - GIVEN_MS;
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

function describe(path: string, format: VariantFormat, size_bytes: number): Made {
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

function noRoom(is_too_large: boolean): AppError {
  const message = is_too_large
    ? 'The image is larger than all that may be kept. Ask for a smaller one.'
    : 'There is no room for another image just now. Try again shortly.';
  const retry_after_s = is_too_large ? VARIANT_REFUSAL_KEPT_MS / SECOND_MS : VARIANT_QUEUE_RETRY_AFTER_S;
  return new AppError('unavailable', message, { retry_after_s });
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

const CHECK = 'image variants';

export function variantChecks({
  config,
}: {
  config: { data_dir: string; variants_max_bytes: number };
}): HealthCheck[] {
  const run = async (): Promise<Finding[]> => {
    const { count, bytes } = await measureVariants(config.data_dir);
    if (count === 0) return [];
    const [kept, most] = [bytes, config.variants_max_bytes].map((each) => Math.round(each / 1024 / 1024));
    return [
      ok(CHECK, `Kept: ${count}, ${kept} MiB of at most ${most}. They are in no backup, and made again.`),
    ];
  };
  return [{ check: CHECK, run }];
}

const MAX_REMEMBERED = 1_000;

export class Refusals {
  /** By the id of a useless source, or by the name of a variant that was too hard; oldest first. */
  readonly #refused = new Map<string, { error: AppError; until_ms: number }>();

  /** Throws what was thrown before for any of these. */
  check(...names: string[]): void {
    for (const name of names) {
      const refused = this.#refused.get(name);
      if (refused && refused.until_ms > monotonicMs()) throw refused.error;
    }
  }

  /**
   * Refuses just this variant, not larger ones of the same file: anybody may ask for variants of a public
   * file, and asking for the hardest would block those that pages show.
   */
  add(name: string, error: AppError): void {
    this.#refused.delete(name);
    this.#refused.set(name, { error, until_ms: monotonicMs() + VARIANT_REFUSAL_KEPT_MS });
    const [oldest = ''] = this.#refused.keys();
    if (this.#refused.size > MAX_REMEMBERED) this.#refused.delete(oldest);
  }
}
