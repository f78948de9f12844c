/**
 * What somebody writes, saved as they type. What is in no mail yet is saved in its place; what goes out at this moment has a draft
 * beside it until it is published. What is not saved is kept by this tab, so that a reload, a sign-in or another page loses nothing.
 */
import { computed, type Signal, signal } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';
import { ApiError, callTelling } from '../../api.ts';
import { createWords } from './own-words.ts';
import {
  differences,
  draftedOf,
  draftOf,
  fieldsOf,
  mergeWords,
  type Version,
  type Words,
  wordsOf,
} from './words.ts';

/** Typing has rested so long. */
const REST_MS = 1000;
const RETRY_MS = 5000;
const TEMPLATE = '/projects/{project}/email-templates/{slug}';

export interface Place {
  project: string;
  /** Of all that is written in this browser. */
  key: string;
  /** Mails are made of it at this moment. */
  is_live: boolean;
  preheader: string | null;
  /** Null: what is written is a template itself. */
  campaign: null | {
    name: string;
    /** Changes what the words belong to. Throws ApiError. */
    save(changes: { template?: string; preheader?: string | null }): Promise<void>;
  };
}

export type Standing =
  | { is: 'saved' | 'waiting' | 'saving' }
  /** Tried again by itself where that may help. */
  | { is: 'failed'; why: string; is_passing: boolean }
  /** Somebody else has saved meanwhile. */
  | { is: 'outdated'; error: ApiError };

class Outdated extends Error {
  constructor(readonly error: ApiError) {
    super(error.message);
  }
}

/** A text that somebody writes at a place, and how far it is saved. */
export class Writing {
  readonly words: Signal<Words>;
  readonly version: Signal<Version | null>;
  readonly standing = signal<Standing>({ is: 'saved' });
  /** Editors own their text: another text is another editor. */
  readonly turn = signal(0);
  /** True where the text differs from what is sent. */
  readonly is_unpublished = computed(() => {
    const template = this.version.value?.template;
    const is_live = this.#place.is_live && template !== undefined;
    return is_live && differences(this.words.value, wordsOf(template, this.#preheader.value)).length > 0;
  });
  readonly #place: Place;
  readonly #key: string;
  /** As it is in force. */
  readonly #preheader: Signal<string | null>;
  /** As the API has them, in force or as a draft. */
  #saved: Words;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Saves come one after the other. */
  #queue: Promise<boolean> = Promise.resolve(true);

  /** `loaded` is null where nothing is written yet: then `starter` is what it begins with. */
  constructor(place: Place, loaded: Version | null, starter: Words) {
    this.#place = place;
    this.#key = `satchel-words:${place.project}/${place.key}`;
    const kept = begin(this.#key, loaded, loaded ? draftedOf(loaded.template, place.preheader) : starter);
    this.words = signal(kept.words);
    this.version = signal(kept.version);
    this.#preheader = signal(place.preheader);
    this.#saved = kept.saved;
    this.#changed();
  }

  readonly change = (changes: Partial<Words>): void => {
    this.words.value = { ...this.words.value, ...changes };
    this.#changed();
  };

  /** Other words take the place of these, in editors anew. */
  replace(changes: Partial<Words>): void {
    this.change(changes);
    this.turn.value += 1;
  }

  /** At once. Whether all is saved. */
  async save(): Promise<boolean> {
    await this.#queue;
    if (this.standing.value.is === 'outdated') return false;
    if (!this.#isDirty()) return true;
    const saved = this.#saved;
    return this.#run((mine) => store(this.#place, this.version.value, { mine, saved }));
  }

  /** Puts what is written in force. Whether it was. */
  publish(): Promise<boolean> {
    return this.#run(async (mine) => {
      const { campaign } = this.#place;
      const preheader = mine.preheader.trim() || null;
      if (campaign && preheader !== this.#preheader.value) await campaign.save({ preheader });
      this.#preheader.value = preheader;
      return change(this.#place, this.version.value, { ...fieldsOf(mine), draft: null });
    });
  }

  /** Gives up what is not published. Throws ApiError. */
  readonly discard = async (): Promise<void> => {
    await this.#queue;
    const published = await change(this.#place, this.version.value, { draft: null });
    this.#restart(published, wordsOf(published.template, this.#preheader.value));
  };

  /** Goes on over what somebody else saved: what was not changed here is as they have it. */
  keepMine(theirs: Version): void {
    const drafted = draftedOf(theirs.template, this.#preheader.value);
    this.#restart(theirs, mergeWords(this.#saved, this.words.value, drafted));
  }

  takeTheirs(theirs: Version): void {
    this.#restart(theirs, draftedOf(theirs.template, this.#preheader.value));
  }

  /** Its page is left: what is not saved yet is saved now. */
  close(): void {
    clearTimeout(this.#timer);
    void this.save();
  }

  #isDirty(): boolean {
    return differences(this.words.value, this.#saved).length > 0;
  }

  /** Keeps what is not saved, and has it saved once typing has rested. */
  #changed(wait_ms = REST_MS): void {
    clearTimeout(this.#timer);
    if (!this.#isDirty()) {
      if (this.standing.value.is === 'waiting') this.standing.value = { is: 'saved' };
      forget(this.#key);
      return;
    }
    keep(this.#key, { version: this.version.value, saved: this.#saved, words: this.words.value });
    if (this.standing.value.is === 'outdated') return;
    if (this.standing.value.is !== 'failed') this.standing.value = { is: 'waiting' };
    this.#timer = setTimeout(() => void this.save(), wait_ms);
  }

  #run(act: (mine: Words) => Promise<Version>): Promise<boolean> {
    this.#queue = this.#queue.then(async () => {
      const mine = this.words.value;
      this.standing.value = { is: 'saving' };
      try {
        this.version.value = await act(mine);
        this.#saved = mine;
        this.standing.value = { is: 'saved' };
        this.#changed();
        return !this.#isDirty();
      } catch (error) {
        this.standing.value = standingOf(error);
        if (this.standing.value.is === 'failed' && this.standing.value.is_passing) this.#changed(RETRY_MS);
        return false;
      }
    });
    return this.#queue;
  }

  #restart(version: Version, words: Words): void {
    this.version.value = version;
    this.#saved = draftedOf(version.template, this.#preheader.value);
    this.standing.value = { is: 'saved' };
    this.replace(words);
  }
}

/** The words of a place, as long as its page is open. */
export function useWords(place: Place, loaded: Version | null, starter: Words): Writing {
  const [writing] = useState(() => new Writing(place, loaded, starter));
  useEffect(() => {
    // With the tab goes what it keeps: the browser asks whether to close it.
    const stay = (event: BeforeUnloadEvent): void => {
      if (writing.standing.value.is === 'saved') return;
      void writing.save();
      event.preventDefault();
    };
    addEventListener('beforeunload', stay);
    return () => {
      removeEventListener('beforeunload', stay);
      writing.close();
    };
  }, [writing]);
  return writing;
}

function standingOf(error: unknown): Standing {
  if (error instanceof Outdated) return { is: 'outdated', error: error.error };
  return { is: 'failed', why: tell(error), is_passing: isPassing(error) };
}

/** Saves the words, and returns the template that has them. Throws ApiError, and Outdated. */
async function store(
  place: Place,
  version: Version | null,
  { mine, saved }: { mine: Words; saved: Words },
): Promise<Version> {
  const { campaign, is_live } = place;
  const own = campaign === null || version?.template.is_own ? version : await makeOwn(place, version, mine);
  // Those that were just made have it all.
  if (own && own !== version && !is_live) return own;
  if (is_live) return change(place, own, { draft: draftOf(mine) });
  if (campaign && mine.preheader !== saved.preheader)
    await campaign.save({ preheader: mine.preheader.trim() || null });
  return change(place, own, fieldsOf(mine));
}

/** Words of its own, for what had none, or those of a template that others use too: that stays as it is. */
async function makeOwn(place: Place, version: Version | null, mine: Words): Promise<Version> {
  const { project, campaign, is_live } = place;
  const made = await createWords(project, {
    name: campaign?.name ?? '',
    layout: version ? version.template.layout : 'marketing',
    words: is_live && version ? wordsOf(version.template, null) : mine,
  });
  await campaign?.save({
    template: made.template.slug,
    ...(!is_live && { preheader: mine.preheader.trim() || null }),
  });
  return made;
}

type Sent = ReturnType<typeof fieldsOf>;

async function change(
  { project }: Place,
  version: Version | null,
  body: Partial<Sent> & { draft?: ReturnType<typeof draftOf> | null },
): Promise<Version> {
  if (!version) throw new ApiError(0, { message: 'Nothing is written yet.' });
  const path = { project, slug: version.template.slug };
  try {
    const { answer: template, etag } = await callTelling(`PATCH ${TEMPLATE}`, {
      path,
      body,
      if_match: version.etag,
    });
    return { template, etag };
  } catch (error) {
    throw error instanceof ApiError && error.status === 409 ? new Outdated(error) : error;
  }
}

/** Without an answer, or of a server that has too much to do, another try may do. */
function isPassing(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 0 || error.status === 429 || error.status >= 500);
}

function tell(error: unknown): string {
  if (!(error instanceof ApiError)) return String(error);
  const [field] = Object.entries(error.errors);
  return field ? `${field[0].replaceAll('_', ' ')} ${field[1].join(', ')}` : error.message;
}

/* --- What this tab keeps --------------------------------------------------------------------------------------------- */

interface Kept {
  version: Version | null;
  saved: Words;
  words: Words;
}

/** Puts the kept text over what is there now. Nobody else wrote where that is as it was then, or says the same already. */
function begin(key: string, version: Version | null, there: Words): Kept {
  const kept = read(key);
  if (!kept) return { version, saved: there, words: there };
  const is_ours = [kept.words, kept.saved].some((words) => differences(words, there).length === 0);
  return is_ours ? { version, saved: there, words: kept.words } : kept;
}

function keep(key: string, kept: Kept): void {
  try {
    sessionStorage.setItem(key, JSON.stringify(kept));
  } catch {
    // The browser keeps nothing, or no more: then it is as if nothing were kept.
  }
}

function forget(key: string): void {
  sessionStorage.removeItem(key);
}

function read(key: string): Kept | null {
  try {
    // Written above, by this page alone.
    return JSON.parse(sessionStorage.getItem(key) ?? 'null') as Kept | null;
  } catch {
    return null;
  }
}
