/** Asks before a second thing of one name is made: two that nobody can tell apart are hardly meant. */
import { askFirst } from './ask-first.ts';

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
