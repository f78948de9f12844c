/**
 * Asks before something is done that many would notice, with the number of them: a dialog over the page, for which whoever is
 * about to do it waits. What is destroyed for good asks with ConfirmByName.
 */
import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { usePath } from '../router.ts';
import { Dialog } from './dialog.tsx';

/** Somebody thought better of it: a form stays as it is, and nothing is told. */
export class Declined extends Error {}

interface Question {
  /** "Mail 2,400 people now?" */
  title: string;
  /** Of the button that goes on: "Mail them". */
  submit: string;
  tone?: 'bad';
  /** What follows from it. */
  told: ComponentChildren;
}

const asked = signal<(Question & { answer(is_yes: boolean): void }) | null>(null);

/** Returns once somebody agreed. Throws Declined, which Form and ActionButton take as nothing. */
export async function askFirst(question: Question): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  asked.value?.answer(false);
  asked.value = { ...question, answer: resolve };
  const is_agreed = await promise;
  asked.value = null;
  if (!is_agreed) throw new Declined();
}

/** Where questions are shown: once, around every page. Whoever leaves the page has answered no. */
export function Questions() {
  const path = usePath();
  useEffect(() => () => asked.value?.answer(false), [path]);
  const question = asked.value;
  if (!question) return null;
  const { title, submit, tone, told, answer } = question;
  return (
    <Dialog title={title} onClose={() => answer(false)}>
      <div class="stack-small">{told}</div>
      <div class="form-buttons">
        <button type="button" class={`button primary${tone ? ` ${tone}` : ''}`} onClick={() => answer(true)}>
          {submit}
        </button>
        <button
          type="button"
          class="button quiet"
          // biome-ignore lint/a11y/noAutofocus: of a dialog; whoever presses Enter twice has not read it.
          autoFocus
          onClick={() => answer(false)}
        >
          Cancel
        </button>
      </div>
    </Dialog>
  );
}
