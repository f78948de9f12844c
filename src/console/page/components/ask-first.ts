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
  /** What follows from it. */
  told: ComponentChildren;
}

/** What is asked at the moment, which questions.tsx shows. */
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
