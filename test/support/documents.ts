/** The README and the guides of the handbook, and the blocks of code in them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dir, '../..');

export function readme(): string {
  return readFileSync(join(ROOT, 'README.md'), 'utf8');
}

export function guide(name: string): string {
  return readFileSync(join(ROOT, `handbook/${name}.md`), 'utf8');
}

/** In the order in which they stand there. */
export function blocksOf(text: string, language: string): string[] {
  const pattern = new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms');
  return [...text.matchAll(pattern)].map(([, block = '']) => block);
}

/** The form of the guide to marketing, for a web page. */
export function signUpForm(): string {
  return blocksOf(guide('marketing'), 'html').join('\n');
}
