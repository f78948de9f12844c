/** The server's side of the processes that make variants: a few at once, with bounded time and memory. */
import { AppError } from '../../errors.ts';
import { VARIANT_QUEUE_RETRY_AFTER_S } from '../../limits.ts';
import { ownCommand } from '../../platform/host/installed-service.ts';
import { inTurn } from '../../platform/host/turns.ts';
import { networkOf } from '../../platform/http/client-ip.ts';
import {
  MAKER_VERB,
  readAnswer,
  type VariantAnswer,
  type VariantJob,
  type VariantReply,
} from './protocol.ts';

/** Decision: variants made at once, each in its own process; what one may take; how many wait. */
const VARIANTS_AT_ONCE = 2;
const VARIANT_DEADLINE_MS = 10_000;
export const VARIANT_MEMORY_BYTES = 512 * 1024 * 1024;
const VARIANTS_WAITING = 20;

/** Decision: of one address (an IPv6 /64), of which one is made while others wait. One more is 429. */
export const VARIANTS_WAITING_OF_ADDRESS = 4;
/** Starting a process takes longer than making a small variant: it is kept for the next ones, for a while. */
const IDLE_STOP_MS = 30_000;

/** What one variant may take. Tests give less. */
export interface MakerLimits {
  deadline_ms: number;
  memory_bytes: number;
}

type Job = Omit<VariantJob, 'memory_bytes'>;
/** For whom a variant is made: the project that the image is of, and the address of whoever asks. */
export interface Asker {
  project_id: number;
  ip: string | null;
}
type Waiting = PromiseWithResolvers<void> & { project_id: number; network: string };
/** The answer of a process; or it ended without one, or gave none in time. */
type Answer = VariantAnswer | 'ended' | 'late';

export class VariantProcesses {
  readonly limits: MakerLimits = { deadline_ms: VARIANT_DEADLINE_MS, memory_bytes: VARIANT_MEMORY_BYTES };
  readonly #idle: MakerProcess[] = [];
  readonly #all = new Set<MakerProcess>();
  #waiting: Waiting[] = [];
  /** The networks of those whose turn it is. */
  readonly #busy: string[] = [];
  #is_stopping = false;

  /**
   * Does `work` in its turn, which may have one job done. Throws AppError `rate_limited` where too many of
   * the network wait, and `unavailable` where too many wait in all or the server stops.
   */
  inTurn<T>(
    { project_id, ip }: Asker,
    work: (make: (job: Job) => Promise<VariantReply | null>) => Promise<T>,
  ): Promise<T> {
    if (this.#is_stopping) throw stopping();
    const network = networkOf(ip);
    // Where a place is free, nobody waits.
    const turn = this.#busy.length < VARIANTS_AT_ONCE ? null : this.#wait(project_id, network);
    if (turn === null) this.#busy.push(network);
    return this.#work(network, turn, work);
  }

  async #work<T>(
    network: string,
    turn: Promise<void> | null,
    work: (make: (job: Job) => Promise<VariantReply | null>) => Promise<T>,
  ): Promise<T> {
    await turn;
    try {
      return await work((job) => this.#make(job));
    } finally {
      this.#busy.splice(this.#busy.indexOf(network), 1);
      this.#giveTurn();
    }
  }

  /** Anybody may ask for images of a public file. At the limit the project with the most gives way. */
  #wait(project_id: number, network: string): Promise<void> {
    const of_network = this.#waiting.filter((one) => one.network === network).length;
    if (of_network >= VARIANTS_WAITING_OF_ADDRESS) throw tooManyOfOne();
    if (this.#waiting.length >= VARIANTS_WAITING) {
      const of_projects = Map.groupBy(this.#waiting, (one) => one.project_id);
      const own = of_projects.get(project_id)?.length ?? 0;
      const most = Math.max(...[...of_projects.values()].map(({ length }) => length));
      if (most <= own + 1) throw tooMany();
      const last = this.#waiting.findLast((one) => of_projects.get(one.project_id)?.length === most);
      this.#waiting = this.#waiting.filter((one) => one !== last);
      last?.reject(tooMany());
    }
    const turn = { ...Promise.withResolvers<void>(), project_id, network };
    this.#waiting.push(turn);
    return turn.promise;
  }

  /** Nobody has two turns while somebody waits. Projects take turns; within one the next goes last. */
  #giveTurn(): void {
    const next = this.#waiting.find(({ network }) => !this.#busy.includes(network)) ?? this.#waiting[0];
    if (!next) return;
    const others = this.#waiting.filter((one) => one !== next);
    this.#waiting = inTurn(others, ({ project_id }) => project_id !== next.project_id);
    this.#busy.push(next.network);
    next.resolve();
  }

  /** Null where the process did not come to an end of it: it took too long or too much, or died. */
  async #make(job: Job): Promise<VariantReply | null> {
    const kept = this.#idle.pop();
    let answer = await this.#ask(kept ?? this.#start(), job);
    // One that was kept may have ended before it was asked, and has less memory left than a new one.
    if (answer === 'ended' && kept) answer = await this.#ask(this.#start(), job);
    return answer === 'ended' || answer === 'late' ? null : answer.reply;
  }

  async #ask(maker: MakerProcess, job: Job): Promise<Answer> {
    if (this.#is_stopping) throw stopping();
    const { deadline_ms, memory_bytes } = this.limits;
    const answer = await maker.ask({ ...job, memory_bytes }, deadline_ms);
    // Not all memory comes back, and the next image is to have it: a process that holds much is replaced.
    if (typeof answer === 'object' && answer.memory_bytes < memory_bytes / 2 && !this.#is_stopping) {
      this.#idle.push(maker);
      maker.stopAfter(IDLE_STOP_MS);
    } else maker.kill();
    if (this.#is_stopping) throw stopping();
    return answer;
  }

  #start(): MakerProcess {
    const maker = new MakerProcess(() => {
      this.#all.delete(maker);
      const place = this.#idle.indexOf(maker);
      if (place >= 0) this.#idle.splice(place, 1);
    });
    this.#all.add(maker);
    return maker;
  }

  /** Ends all processes; whoever waits is told `unavailable`. */
  stop(): void {
    this.#is_stopping = true;
    for (const { reject } of this.#waiting.splice(0)) reject(stopping());
    for (const maker of this.#all) maker.kill();
  }
}

class MakerProcess {
  readonly #child: Bun.Subprocess;
  #settle: (answer: Answer) => void = () => {};
  #idle_timer: Timer | undefined;

  constructor(onEnd: () => void) {
    this.#child = Bun.spawn(ownCommand(MAKER_VERB), {
      // Nothing of what the server knows: no settings, no secrets, no descriptors but that of the messages.
      env: {},
      cwd: '/',
      stdio: ['ignore', 'ignore', 'ignore'],
      serialization: 'json',
      ipc: (message) => this.#settle(readAnswer(message) ?? 'ended'),
      onExit: () => {
        clearTimeout(this.#idle_timer);
        onEnd();
        this.#settle('ended');
      },
    });
    this.#child.unref();
  }

  async ask(job: VariantJob, deadline_ms: number): Promise<Answer> {
    clearTimeout(this.#idle_timer);
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return 'ended';
    const { promise, resolve } = Promise.withResolvers<Answer>();
    this.#settle = resolve;
    const timer = setTimeout(() => resolve('late'), deadline_ms);
    try {
      this.#child.send(job);
    } catch {
      // It was killed a moment ago, for example because memory was short, and its end is not heard of yet.
      resolve('ended');
    }
    return promise.finally(() => clearTimeout(timer));
  }

  stopAfter(idle_ms: number): void {
    this.#idle_timer = setTimeout(() => this.kill(), idle_ms);
    this.#idle_timer.unref();
  }

  kill(): void {
    clearTimeout(this.#idle_timer);
    this.#child.kill('SIGKILL');
  }
}

function tooManyOfOne(): AppError {
  const retry_after_s = VARIANT_QUEUE_RETRY_AFTER_S;
  return new AppError('rate_limited', 'You are waiting for too many images already. Try again shortly.', {
    retry_after_s,
  });
}

function tooMany(): AppError {
  return new AppError('unavailable', 'Too many images are waiting to be made. Try again shortly.', {
    retry_after_s: VARIANT_QUEUE_RETRY_AFTER_S,
  });
}

function stopping(): AppError {
  return new AppError('unavailable', 'The server is stopping.', { retry_after_s: 5 });
}
