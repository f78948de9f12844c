/** Files that the executable carries, as their text. */
declare module '*.md' {
  const text: string;
  export default text;
}
declare module '*/docs.css' {
  const text: string;
  export default text;
}
