/** A mail as its readers see it: HTML in light, dark and on a telephone; the text part; and whatever else belongs beside them. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { PreviewFrame } from './preview-frame.tsx';
import { Choice, type Scheme, SchemeChoice } from './tabs.tsx';

export interface MailViewProps {
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
