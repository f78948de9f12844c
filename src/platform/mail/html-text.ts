/** Text made of HTML: what a mail says that has nothing else. */
import { compile, type FormatCallback, type SelectorDefinition } from 'html-to-text';

/** HTML nested deeper than this is cut: the converter is recursive. */
const MAX_DEPTH = 200;

/** Cells stand apart, and each row is a line: by themselves they would run together. */
const cell: FormatCallback = (element, walk, builder) => {
  walk(element.children, builder);
  builder.addInline(' ');
};
const row: FormatCallback = (element, walk, builder) => {
  builder.openBlock({ leadingLineBreaks: 1 });
  walk(element.children, builder);
  builder.closeBlock({ trailingLineBreaks: 1 });
};

/** A converter; compiled once, used for many texts. Pictures and styling go. */
export function htmlToText(options: {
  links: SelectorDefinition['options'];
  wordwrap: number | false;
}): (html: string) => string {
  return compile({
    wordwrap: options.wordwrap,
    limits: { maxDepth: MAX_DEPTH, ellipsis: '...' },
    formatters: { cell, row },
    selectors: [
      { selector: 'img', format: 'skip' },
      { selector: 'a', options: options.links },
      { selector: 'td', format: 'cell' },
      { selector: 'th', format: 'cell' },
      { selector: 'tr', format: 'row' },
    ],
  });
}
