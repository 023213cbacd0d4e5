// Marks search matches with the browser's CSS highlights, which does not change the DOM.

const name = "lerim-found";
const most = 2000;

/** Whether the text of an element contains the words, ignoring case. */
export function foundIn(element: Element, words: string): boolean {
  return words !== "" && element.textContent.toLowerCase().includes(words.toLowerCase());
}

/** Highlights every match of the words below an element; "" clears the highlights. */
export function showFound(below: Element, words: string): void {
  CSS.highlights.delete(name);
  if (words === "") return;
  const wanted = words.toLowerCase();
  const ranges: Range[] = [];
  const walker = document.createTreeWalker(below, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null && ranges.length < most; node = walker.nextNode()) {
    const text = (node.nodeValue ?? "").toLowerCase();
    for (let at = text.indexOf(wanted); at >= 0 && ranges.length < most; at = text.indexOf(wanted, at + wanted.length)) {
      const range = new Range();
      range.setStart(node, Math.min(at, node.nodeValue?.length ?? 0));
      range.setEnd(node, Math.min(at + wanted.length, node.nodeValue?.length ?? 0));
      ranges.push(range);
    }
  }
  CSS.highlights.set(name, new Highlight(...ranges));
}
