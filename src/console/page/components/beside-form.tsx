/** A form, and beside it what comes of it as it is typed; below it where there is no room. */
import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { Entered } from './form.tsx';

export function BesideForm(props: {
  form: ComponentChildren;
  /** `entered` is null as long as nothing was changed. */
  beside(entered: Entered | null): ComponentChildren;
}) {
  const [entered, setEntered] = useState<Entered | null>(null);
  const within = useRef<HTMLDivElement>(null);
  const read = (): void => {
    const form = within.current?.querySelector('form');
    if (form) setEntered(new Entered(new FormData(form), null));
  };
  return (
    <div class="beside-form">
      <div ref={within} onInput={read} onChange={read}>
        {props.form}
      </div>
      <div class="beside">{props.beside(entered)}</div>
    </div>
  );
}
