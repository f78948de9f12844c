/** What was entered in a form and is not saved: nobody leaves it behind unasked. `Form` says which forms those are. */
import { askFirst, Declined } from './ask-first.ts';

export function isUnsaved(within: ParentNode = document): boolean {
  return within.querySelector('form[data-unsaved]') !== null;
}

/** Whether somebody may go: nothing would be lost, or they agreed. */
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
