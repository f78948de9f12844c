/** The question that is asked at the moment, over the page. Whoever leaves the page has answered no. */
import { useEffect } from 'preact/hooks';
import { usePath } from '../router.ts';
import { asked } from './ask-first.ts';
import { Dialog } from './dialog.tsx';

export function Questions() {
  const path = usePath();
  useEffect(() => () => asked.value?.answer(false), [path]);
  const question = asked.value;
  if (!question) return null;
  const { title, submit, decline = 'Cancel', tone, told, answer } = question;
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
          {decline}
        </button>
      </div>
    </Dialog>
  );
}
