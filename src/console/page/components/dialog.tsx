/** A dialog over the page, the browser's own: it keeps the focus inside, Escape closes it, and the focus goes back. */
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { usePath } from '../router.ts';
import { asked, mayLeave } from './ask-first.tsx';
import { Icon } from './icon.tsx';

export function Dialog({
  title,
  onClose,
  is_wide = false,
  children,
}: {
  title: string;
  onClose(): void;
  is_wide?: boolean;
  children: ComponentChildren;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  const [opener] = useState(() => document.activeElement);
  const close = async (): Promise<void> => {
    if (dialog.current && (await mayLeave(dialog.current))) onClose();
  };
  useEffect(() => {
    const shown = dialog.current;
    shown?.showModal();
    return () => {
      shown?.close();
      // The browser gives it back to nobody, as the dialog leaves the page while it closes.
      requestAnimationFrame(() => {
        if (document.activeElement === document.body && opener instanceof HTMLElement) opener.focus();
      });
    };
  }, [opener]);
  return (
    <dialog
      ref={dialog}
      class={is_wide ? 'wide' : undefined}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        void close();
      }}
    >
      <div class="dialog-head">
        <h2 id={id}>{title}</h2>
        <button type="button" class="button quiet square" aria-label="Close" onClick={close}>
          <Icon name="close" />
        </button>
      </div>
      <div class="dialog-body">{children}</div>
    </dialog>
  );
}

/** The question that is asked at the moment, over the page. Whoever leaves the page has answered no. */
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
