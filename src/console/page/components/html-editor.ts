/** CodeMirror as the console uses it; imported by code-editor.tsx when an editor is shown, and by nothing else. */
import { html } from '@codemirror/lang-html';
import { HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { tags } from '@lezer/highlight';
import { basicSetup, EditorView } from 'codemirror';

interface EditorOptions {
  label: string;
  value: string;
  language: 'html' | 'text';
  onChange(value: string): void;
  /** Of letters that mean something with Ctrl (or ⌘). */
  keys: Readonly<Record<string, () => void>>;
  /** Of pictures that are dropped or pasted. */
  onPictures: ((files: File[]) => void) | null;
}

/** Changes that a toolbar makes to the text at the cursor. */
export interface EditorHandle {
  insert(text: string): void;
  /** Puts these around what is selected; around `otherwise`, selected, where nothing is. */
  wrap(before: string, after: string, otherwise: string): void;
  /** Puts this before each line of what is selected. */
  prefix(text: string): void;
}

const LOOK = EditorView.theme({
  '&': { color: 'var(--text)', backgroundColor: 'var(--panel)', fontSize: '13px', minHeight: '320px' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '20px', minHeight: '320px' },
  '.cm-content': { caretColor: 'var(--text)' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '.cm-gutters': {
    color: 'var(--muted)',
    backgroundColor: 'var(--sunken)',
    borderRight: '1px solid var(--line)',
  },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'var(--accent-soft)' },
  '&.cm-focused .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'var(--line-strong) !important',
  },
  '&.cm-focused': { outline: '2px solid var(--accent-text)', outlineOffset: '-2px' },
  '.cm-panels': { color: 'var(--text)', backgroundColor: 'var(--sunken)' },
});

/** The colours of the page, which are readable in light and dark; CodeMirror's own are of light. */
const COLOURS = HighlightStyle.define([
  { tag: [tags.tagName, tags.keyword], color: 'var(--accent-text)' },
  { tag: [tags.attributeName, tags.propertyName], color: 'var(--warn)' },
  { tag: [tags.string, tags.attributeValue, tags.number, tags.color], color: 'var(--good)' },
  { tag: [tags.comment, tags.angleBracket, tags.meta], color: 'var(--muted)' },
  { tag: tags.invalid, color: 'var(--bad)' },
]);

/**
 * Typing over what is selected is done here: where the browser does it in coloured text, it keeps the colour by an inline style,
 * which the policy of the page refuses, and reports.
 */
const TYPING_OVER = EditorView.domEventHandlers({
  beforeinput(event, view) {
    const { data, inputType } = event;
    const { from, to, empty } = view.state.selection.main;
    if (inputType !== 'insertText' || !data || empty) return false;
    event.preventDefault();
    const insert = () =>
      view.state.update(view.state.replaceSelection(data), { userEvent: 'input.type', scrollIntoView: true });
    const handlers = view.state.facet(EditorView.inputHandler);
    if (!handlers.some((handle) => handle(view, from, to, data, insert))) view.dispatch(insert());
    return true;
  },
});

function takingPictures(take: (files: File[]) => void) {
  const given = (event: Event, data: DataTransfer | null): boolean => {
    const pictures = [...(data?.files ?? [])].filter(({ type }) => type.startsWith('image/'));
    if (pictures.length === 0) return false;
    event.preventDefault();
    take(pictures);
    return true;
  };
  return EditorView.domEventHandlers({
    drop: (event, view) => {
      const at = view.posAtCoords({ x: event.clientX, y: event.clientY });
      if (at !== null && event.dataTransfer?.files.length) view.dispatch({ selection: { anchor: at } });
      return given(event, event.dataTransfer);
    },
    paste: (event) => given(event, event.clipboardData),
  });
}

/** Opens an editor, which can be written into, and taken away again. */
export function openEditor(
  root: ShadowRoot,
  { label, value, language, onChange, keys, onPictures }: EditorOptions,
): EditorHandle & { destroy(): void } {
  const view = new EditorView({
    doc: value,
    root,
    parent: root,
    extensions: [
      EditorView.domEventHandlers({
        keydown: ({ key, ctrlKey, metaKey, shiftKey, altKey }) => {
          const act = (ctrlKey || metaKey) && !shiftKey && !altKey ? keys[key.toLowerCase()] : undefined;
          act?.();
          return act !== undefined;
        },
      }),
      onPictures ? takingPictures(onPictures) : [],
      basicSetup,
      language === 'html' ? html() : [],
      syntaxHighlighting(COLOURS),
      EditorView.lineWrapping,
      EditorView.contentAttributes.of({ 'aria-label': label }),
      LOOK,
      TYPING_OVER,
      EditorView.updateListener.of((update) => {
        if (update.docChanged) onChange(update.state.doc.toString());
      }),
    ],
  });
  return {
    insert(text) {
      view.dispatch(view.state.replaceSelection(text));
      view.focus();
    },
    wrap(before, after, otherwise) {
      const { from, to } = view.state.selection.main;
      const inner = view.state.sliceDoc(from, to) || otherwise;
      const start = from + before.length;
      view.dispatch({
        changes: { from, to, insert: before + inner + after },
        selection: { anchor: start, head: start + inner.length },
      });
      view.focus();
    },
    prefix(text) {
      const { from, to } = view.state.selection.main;
      const first = view.state.doc.lineAt(from).number;
      const last = view.state.doc.lineAt(to).number;
      const lines = Array.from({ length: last - first + 1 }, (_, index) =>
        view.state.doc.line(first + index),
      );
      view.dispatch(view.state.update({ changes: lines.map((line) => ({ from: line.from, insert: text })) }));
      view.focus();
    },
    destroy: () => view.destroy(),
  };
}
