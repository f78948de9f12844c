/**
 * An editor of HTML: CodeMirror, loaded when it is first shown. `value` is what it begins with; from then on the text is the
 * editor's own, told by `onChange`: another text (a template that was loaded again) is another `key`. It lives in a shadow root,
 * where its styles need no exception from the page's policy.
 */
import { useEffect, useRef } from 'preact/hooks';

export function CodeEditor(props: { label: string; value: string; onChange(value: string): void }) {
  const place = useRef<HTMLDivElement>(null);
  const latest = useRef(props);
  latest.current = props;
  useEffect(() => {
    const element = place.current;
    if (!element) return;
    const root = element.shadowRoot ?? element.attachShadow({ mode: 'open' });
    let destroy = (): void => {};
    let is_gone = false;
    void import('./html-editor.ts').then(({ openEditor }) => {
      if (is_gone) return;
      const { label, value } = latest.current;
      destroy = openEditor(root, { label, value, onChange: (text) => latest.current.onChange(text) });
    });
    return () => {
      is_gone = true;
      destroy();
    };
  }, []);
  return <div class="editor" ref={place} />;
}
