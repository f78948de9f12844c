/** An editor of HTML: CodeMirror, loaded when it is first shown. It lives in a shadow root, where its styles need no exception. */
import { useEffect, useRef } from 'preact/hooks';

export function CodeEditor(props: { label: string; value: string; onChange(value: string): void }) {
  const { label, value, onChange } = props;
  const place = useRef<HTMLDivElement>(null);
  const latest = useRef({ onChange, value });
  latest.current.onChange = onChange;
  const replace = useRef<((text: string) => void) | null>(null);
  // It is made once; what changes comes by the refs.
  useEffect(() => {
    const element = place.current;
    if (!element) return;
    const root = element.shadowRoot ?? element.attachShadow({ mode: 'open' });
    let destroy = (): void => {};
    let is_gone = false;
    void import('./html-editor.ts').then(({ openEditor }) => {
      if (is_gone) return;
      const editor = openEditor(root, {
        ...{ label, value: latest.current.value },
        onChange(text) {
          latest.current.value = text;
          latest.current.onChange(text);
        },
      });
      destroy = editor.destroy;
      replace.current = editor.replace;
    });
    return () => {
      is_gone = true;
      destroy();
    };
  }, []);
  useEffect(() => {
    if (value === latest.current.value) return;
    latest.current.value = value;
    replace.current?.(value);
  }, [value]);
  return <div class="editor" ref={place} />;
}
