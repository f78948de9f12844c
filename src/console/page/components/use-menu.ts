/** A menu (`<details>`): a click outside closes it, Escape too and gives the focus back, and so does going to another page. */
import type { RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { usePath } from '../router.ts';

/** For the `ref` of the menu. */
export function useMenu(): RefObject<HTMLDetailsElement | null> {
  const menu = useRef<HTMLDetailsElement>(null);
  const path = usePath();
  const close = (): void => {
    if (menu.current) menu.current.open = false;
  };
  useEffect(close, [path]);
  useEffect(() => {
    const closeOutside = (event: Event): void => {
      if (event.target instanceof Node && !menu.current?.contains(event.target)) close();
    };
    const closeOnEscape = (event: KeyboardEvent): void => {
      if (event.key !== 'Escape' || !menu.current?.open) return;
      close();
      // It closes nothing else, such as the drawer that it is in.
      event.stopImmediatePropagation();
      menu.current.querySelector('summary')?.focus();
    };
    addEventListener('click', closeOutside);
    addEventListener('keydown', closeOnEscape, true);
    return () => {
      removeEventListener('click', closeOutside);
      removeEventListener('keydown', closeOnEscape, true);
    };
  }, []);
  return menu;
}

/** Arrows go from a field to what was found below it, from one to the next, and back. */
export function moveInside(event: KeyboardEvent & { currentTarget: HTMLElement }): void {
  const stops = [...event.currentTarget.querySelectorAll<HTMLElement>('input, a, button')];
  const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
  const next = stops[stops.indexOf(document.activeElement as HTMLElement) + step];
  if (step === 0 || !next) return;
  event.preventDefault();
  next.focus();
}
