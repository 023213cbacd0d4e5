"""wrap.py RUFF: breaks docstring and comment lines that are too long; lists the others."""
import ast,subprocess,sys,re
from pathlib import Path
out=subprocess.run([sys.argv[1],'check','.','--select','E501','--output-format','concise'],capture_output=True,text=True).stdout
left=[]
def doclines(src):
    d=set()
    for n in ast.walk(ast.parse(src)):
        if isinstance(n,ast.Expr) and isinstance(n.value,ast.Constant) and isinstance(n.value.value,str): d.update(range(n.lineno,n.end_lineno+1))
    return d
for l in reversed(out.split('\n')):
    m=re.match(r'(.+?):(\d+):\d+: E501',l)
    if not m: continue
    p=Path(m[1]); n=int(m[2]); src=p.read_text(); lines=src.split('\n'); s=lines[n-1]
    ind=re.match(r'\s*',s)[0]; iscomment=s.lstrip().startswith('#')
    if not iscomment and n not in doclines(src): left.append(l); continue
    cut=s.rfind(' ',0,119)
    a,b=s[:cut],s[cut+1:]
    if iscomment: b='# '+b
    nxt=lines[n] if n<len(lines) else ''
    if not iscomment and not b.rstrip().endswith('"""') and nxt.strip() and not nxt.strip().startswith('"""') and re.match(r'\s*',nxt)[0]==ind and len(ind+b+' '+nxt.strip())<=120: lines[n-1:n+1]=[a,ind+b+' '+nxt.strip()]
    else: lines[n-1:n]=[a,ind+b]
    p.write_text('\n'.join(lines))
print('\n'.join(left))
