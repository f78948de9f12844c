/**
 * A mail as its readers see it: HTML of somebody else in a frame that runs no script. The page's own policy would forbid its
 * styles, so that the HTML goes to the server and comes back under a policy of its own.
 */
import { useEffect, useId, useRef, useState } from 'preact/hooks';

/** Rests this long after the last change, so that typing does not load a frame for each key. */
const REST_MS = 300;

export function PreviewFrame(props: {
  /** What is shown, for those who hear it. */
  title: string;
  html: string;
  width?: 'phone' | 'full';
  scheme?: 'light' | 'dark';
}) {
  const { title, html, width = 'full', scheme = 'light' } = props;
  const id = useId();
  const [turn, setTurn] = useState(0);
  const form = useRef<HTMLFormElement>(null);
  const is_first = useRef(true);
  useEffect(() => {
    const timer = setTimeout(() => setTurn((last) => last + 1), is_first.current ? 0 : REST_MS);
    is_first.current = false;
    return () => clearTimeout(timer);
  }, [html, scheme]);
  // The form holds the HTML. Each time it goes to a frame of its own: one that is loaded again is a step for the browser's "back".
  const name = `preview-${id}-${turn}`;
  useEffect(() => {
    if (turn > 0) form.current?.submit();
  }, [turn]);
  return (
    <>
      <form ref={form} hidden method="post" action="/console/preview-frame" target={name}>
        <textarea name="html" value={html} readOnly aria-label={title} />
      </form>
      <iframe key={name} name={name} title={title} sandbox="" class={`preview-frame ${width} ${scheme}`} />
    </>
  );
}
