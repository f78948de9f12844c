/**
 * Asks before something is done that many would notice, with the number of them: a dialog over the page, for which whoever is
 * about to do it waits. What is destroyed for good asks with ConfirmByName.
 */
import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';

/** Somebody thought better of it: a form stays as it is, and nothing is told. */
export class Declined extends Error {}

interface Question {
  /** "Mail 2,400 people now?" */
  title: string;
  /** Of the button that goes on: "Mail them". */
  submit: string;
  /** Of the other one, where "Cancel" could be taken for what is asked. */
  decline?: string;
  tone?: 'bad';
  /** The consequences, told before it is done. */
  told: ComponentChildren;
}

/** The question of the moment, which dialog.tsx shows. */
export const asked = signal<(Question & { answer(is_yes: boolean): void }) | null>(null);

/** Returns once somebody agreed. Throws Declined, which Form and ActionButton take as nothing. */
export async function askFirst(question: Question): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  asked.value?.answer(false);
  const mine = { ...question, answer: resolve };
  asked.value = mine;
  const is_agreed = await promise;
  // Another one may be asked by now.
  if (asked.value === mine) asked.value = null;
  if (!is_agreed) throw new Declined();
}

/** Finds a form with entries that are not saved: nobody leaves those behind unasked. `Form` marks such forms. */
export function isUnsaved(within: ParentNode = document): boolean {
  return within.querySelector('form[data-unsaved]') !== null;
}

/** Says whether somebody may go: nothing would be lost, or they agreed. */
export async function mayLeave(within: ParentNode = document): Promise<boolean> {
  if (!isUnsaved(within)) return true;
  try {
    await askFirst({
      title: 'Leave without saving?',
      submit: 'Leave without saving',
      tone: 'bad',
      told: <p>What you entered here is not saved, and would be gone.</p>,
    });
    return true;
  } catch (error) {
    if (error instanceof Declined) return false;
    throw error;
  }
}

/** `others`: those that are in use. Returns where none has the name, or somebody agreed; throws Declined. */
export async function askAboutName(
  noun: string,
  name: string,
  others: readonly { name: string }[],
): Promise<void> {
  if (!others.some((other) => other.name === name)) return;
  await askFirst({
    title: `A second ${noun} named ${name}?`,
    submit: `Make a second ${noun}`,
    told: (
      <p>
        There is one of this name already. In lists the two look alike, and on the command line each goes by
        its id only.
      </p>
    ),
  });
}
