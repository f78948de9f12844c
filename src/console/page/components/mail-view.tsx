/** A mail as its readers see it: HTML in light, dark and on a telephone; the text part; and whatever else belongs beside them. */
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { Choice, type Scheme, SchemeChoice } from './tabs.tsx';

interface MailViewProps {
  /** Of the frame, for those who hear it. */
  title: string;
  html: string | null;
  text: string | null;
  /** Further parts by their name, such as the headers. */
  more?: Readonly<Record<string, ComponentChildren>>;
}

export function MailView({ title, html, text, more = {} }: MailViewProps) {
  const [part, setPart] = useState('');
  const [scheme, setScheme] = useState<Scheme>('light');
  const [width, setWidth] = useState<'full' | 'phone'>('full');
  const parts = [
    ...(html === null ? [] : ['HTML']),
    ...(text === null ? [] : ['Text']),
    ...Object.keys(more),
  ];
  const shown = parts.includes(part) ? part : parts[0];
  return (
    <div class="stack mail-view">
      <div class="row">
        <Choice
          label="Part of the mail"
          choices={parts.map((name) => [name, name])}
          now={shown ?? ''}
          onChoose={setPart}
        />
        {shown === 'HTML' && (
          <>
            <span class="spacer" />
            <SchemeChoice now={scheme} onChoose={setScheme} />
            <Choice<'full' | 'phone'>
              label="Width"
              choices={[
                ['full', 'Desk'],
                ['phone', 'Phone'],
              ]}
              now={width}
              onChoose={setWidth}
            />
          </>
        )}
      </div>
      {shown === 'HTML' && <PreviewFrame title={title} html={html ?? ''} scheme={scheme} width={width} />}
      {shown === 'Text' && <pre class="mail-text">{text}</pre>}
      {shown !== undefined && more[shown]}
    </div>
  );
}

/** Rests this long after the last change, so that typing does not load a frame for each key. */
const REST_MS = 300;

export function PreviewFrame(props: {
  /** Read aloud to those who do not see it. */
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
