"""`python scripts/layout/rename.py REPO names.txt [-n]`: renames module-level symbols everywhere. A line: module, old name, new name."""
import ast,sys,re,subprocess
from pathlib import Path
sys.path.insert(0,str(Path(__file__).parent))
from source import load
REPO=Path(sys.argv[1]); S=REPO/'server'
mods,_=load(S)
R={}
for f in [a for a in sys.argv[2:] if a!='-n']:
    for l in open(f):
        w=l.split()
        if len(w)==3 and not l.startswith('#'): R[(w[0],w[1])]=w[2]
trees={m:ast.parse(p.read_text()) for m,p in mods.items()}
def bindings(t):
    d=set(); i={}
    def visit(body):
        for n in body:
            if isinstance(n,(ast.FunctionDef,ast.AsyncFunctionDef,ast.ClassDef)): d.add(n.name)
            elif isinstance(n,ast.Assign):
                for x in n.targets:
                    for y in ast.walk(x):
                        if isinstance(y,ast.Name): d.add(y.id)
            elif isinstance(n,ast.AnnAssign) and isinstance(n.target,ast.Name): d.add(n.target.id)
            elif isinstance(n,ast.ImportFrom):
                for a in n.names: i[a.asname or a.name]=target(n,a)
            elif isinstance(n,(ast.If,ast.Try,ast.With,ast.For)):
                visit(n.body); visit(getattr(n,'orelse',[]))
                for h in getattr(n,'handlers',[]): visit(h.body)
    visit(t.body)
    return d,i
def door_binds(pack,name):
    # the package's __init__ binds a symbol of the same name as its submodule (lerim.redaction.redact)
    return any(isinstance(x,ast.ImportFrom) and x.module and x.module!=pack and any((y.asname or y.name)==name for y in x.names) for x in trees[pack].body)
def target(n,a):
    if not n.module or n.module.split('.')[0]!='lerim': return ('?',n.module,a.name)
    full=n.module+'.'+a.name
    if full in mods and not door_binds(n.module,a.name): return ('module',full)
    return ('symbol',n.module,a.name)
B={m:bindings(t) for m,t in trees.items()}
def origin(m,s):
    seen=set()
    while (m,s) not in seen and m in B:
        seen.add((m,s))
        d,i=B[m]
        if s in d: return m,s
        x=i.get(s)
        if x and x[0]=='symbol': _,m,s=x; continue
        # door stub
        p=mods[m].with_suffix('.pyi') if mods[m].name=='__init__.py' else None
        if p and p.exists():
            mm=re.search(rf'^from (\.[\w.]*) import {s} as {s}$',p.read_text(),re.M)
            if mm:
                rel=mm.group(1)
                m=m+(rel if rel!='.' else ''); continue
        return m,s
    return m,s
def new_name(m,s):
    return R.get(origin(m,s)) 
problems=[]; used=set()
class Scope:
    def __init__(self,kind,names,mapping): self.kind=kind; self.names=names; self.mapping=mapping
def local_names(fn):
    names=set(); mapping={}; glob=set()
    a=fn.args
    for x in a.args+a.kwonlyargs+a.posonlyargs+[y for y in (a.vararg,a.kwarg) if y]: names.add(x.arg)
    def walk(n,top=False):
        for c in ast.iter_child_nodes(n):
            if isinstance(c,(ast.FunctionDef,ast.AsyncFunctionDef,ast.ClassDef)): names.add(c.name); 
            elif isinstance(c,ast.Lambda): pass
            elif isinstance(c,(ast.ListComp,ast.SetComp,ast.DictComp,ast.GeneratorExp)):
                for y in ast.walk(c):
                    if isinstance(y,ast.NamedExpr): names.add(y.target.id)
            else:
                if isinstance(c,ast.Name) and isinstance(c.ctx,(ast.Store,ast.Del)): names.add(c.id)
                elif isinstance(c,ast.ImportFrom):
                    for al in c.names:
                        names.add(al.asname or al.name); mapping[al.asname or al.name]=target(c,al)
                elif isinstance(c,ast.Import):
                    for al in c.names: names.add((al.asname or al.name).split('.')[0])
                elif isinstance(c,(ast.Global,ast.Nonlocal)): glob.update(c.names)
                elif isinstance(c,ast.ExceptHandler) and c.name: names.add(c.name)
                elif isinstance(c,(ast.MatchAs,ast.MatchStar)) and c.name: names.add(c.name)
                elif isinstance(c,ast.MatchMapping) and c.rest: names.add(c.rest)
                walk(c)
    if isinstance(fn,ast.Lambda): walk(fn.body) if False else None
    else:
        for st in fn.body: walk(ast.Module([st],[]))
    return names-glob,mapping
def process(path,text,modname):
    t=ast.parse(text)
    d,i=bindings(t)
    own={}
    for (m,o),n in R.items():
        if m==modname and o in d: own[o]=n; used.add((m,o))
    mp=dict(i)
    subs=[]  # (line,col,old,new) col in bytes
    # fast exit
    def lookup(name,scopes):
        for k,s in enumerate(reversed(scopes)):
            if s.kind=='class' and k!=0: continue
            if name in s.names:
                return ('import',s.mapping[name]) if name in s.mapping else ('local',None)
        if name in d: return ('own',name)
        if name in mp: return ('import',mp[name])
        return (None,None)
    allids={n.id for n in ast.walk(t) if isinstance(n,ast.Name)}|{n.arg for n in ast.walk(t) if isinstance(n,ast.arg)}|d|set(i)
    keepas=set()
    def plan_import(node):
        for a in node.names:
            x=target(node,a)
            if x[0]!='symbol': continue
            n=new_name(x[1],x[2])
            if not n: continue
            used.add(origin(x[1],x[2]))
            subs.append((a.lineno,a.col_offset,a.name,n+('' if a.asname or n not in allids else f' as {a.name}')))
            if not a.asname and n in allids:
                keepas.add(a.name); problems.append(f'{path}: {a.name} -> {n} is used there; kept as')
    def renamed_of(kind,x,name):
        if kind=='own': return own.get(name)
        if kind=='import' and x[0]=='symbol':
            n=new_name(x[1],x[2])
            if n and name==x[2] and name not in keepas: return n
        return None
    def visit(n,scopes):
        if isinstance(n,ast.ImportFrom): plan_import(n); return
        if isinstance(n,ast.Name):
            kind,x=lookup(n.id,scopes)
            r=renamed_of(kind,x,n.id)
            if r: subs.append((n.lineno,n.col_offset,n.id,r))
            return
        if isinstance(n,ast.Attribute):
            if isinstance(n.value,ast.Name):
                kind,x=lookup(n.value.id,scopes)
                if kind=='import' and x[0]=='module':
                    r=new_name(x[1],n.attr)
                    if r:
                        used.add(origin(x[1],n.attr))
                        # attr position: end
                        subs.append((n.end_lineno,n.end_col_offset-len(n.attr.encode()),n.attr,r))
            visit(n.value,scopes); return
        if isinstance(n,(ast.FunctionDef,ast.AsyncFunctionDef)):
            for x in n.decorator_list: visit(x,scopes)
            for x in n.args.defaults+[y for y in n.args.kw_defaults if y]: visit(x,scopes)
            for x in n.args.args+n.args.kwonlyargs+n.args.posonlyargs+[y for y in (n.args.vararg,n.args.kwarg) if y]:
                if x.annotation: visit(x.annotation,scopes)
            if n.returns: visit(n.returns,scopes)
            names,m2=local_names(n)
            s=Scope('fn',names,m2)
            # imports inside first (for keepas)
            for x in n.body: visit(x,scopes+[s])
            return
        if isinstance(n,ast.Lambda):
            for x in n.args.defaults+[y for y in n.args.kw_defaults if y]: visit(x,scopes)
            names=set(x.arg for x in n.args.args+n.args.kwonlyargs+n.args.posonlyargs)
            visit(n.body,scopes+[Scope('fn',names,{})]); return
        if isinstance(n,(ast.ListComp,ast.SetComp,ast.DictComp,ast.GeneratorExp)):
            names=set()
            for g in n.generators:
                for y in ast.walk(g.target):
                    if isinstance(y,ast.Name): names.add(y.id)
            s=Scope('fn',names,{})
            visit(n.generators[0].iter,scopes)
            inner=scopes+[s]
            for k,g in enumerate(n.generators):
                if k: visit(g.iter,inner)
                visit(g.target,inner)
                for c in g.ifs: visit(c,inner)
            if isinstance(n,ast.DictComp): visit(n.key,inner); visit(n.value,inner)
            else: visit(n.elt,inner)
            return
        if isinstance(n,ast.ClassDef):
            for x in n.decorator_list+n.bases: visit(x,scopes)
            for x in n.keywords: visit(x.value,scopes)
            names=set()
            for st in n.body:
                if isinstance(st,(ast.FunctionDef,ast.AsyncFunctionDef)): names.add(st.name)
                elif isinstance(st,ast.AnnAssign) and isinstance(st.target,ast.Name): names.add(st.target.id)
                elif isinstance(st,ast.Assign):
                    for y in st.targets:
                        if isinstance(y,ast.Name): names.add(y.id)
            # class attributes: annotations of a field refer to the global of the same name only rarely
            s=Scope('class',set(),{})
            for st in n.body:
                if isinstance(st,ast.AnnAssign):
                    visit(st.annotation,scopes)
                    if st.value: visit(st.value,scopes)
                elif isinstance(st,ast.Assign): visit(st.value,scopes)
                else: visit(st,scopes+[s])
            return
        for c in ast.iter_child_nodes(n): visit(c,scopes)
    # module-level imports first, for keepas
    for st in t.body: visit(st,[])
    lines=text.split('\n')
    # defs
    for st in ast.walk(ast.Module([x for x in t.body],[])):
        pass
    def defs(body):
        for st in body:
            if isinstance(st,(ast.FunctionDef,ast.AsyncFunctionDef,ast.ClassDef)) and st.name in own:
                ln=st.lineno
                mm=re.search(r'(?:def|class)\s+'+re.escape(st.name)+r'\b',lines[ln-1])
                assert mm,(path,ln,lines[ln-1])
                col=len(lines[ln-1][:mm.end()-len(st.name)].encode())
                subs.append((ln,col,st.name,own[st.name]))
            elif isinstance(st,(ast.If,ast.Try)): defs(st.body); defs(st.orelse)
    defs(t.body)
    for st in t.body:
        if isinstance(st,ast.Assign) and any(isinstance(x,ast.Name) and x.id=='__all__' for x in st.targets):
            for e in ast.walk(st.value):
                if isinstance(e,ast.Constant) and isinstance(e.value,str) and e.value not in keepas:
                    x=mp.get(e.value)
                    r=own.get(e.value) or (x and x[0]=='symbol' and x[2]==e.value and new_name(x[1],x[2]))
                    if r: subs.append((e.lineno,e.col_offset+1,e.value,r))
    for st in ast.walk(t):
        if isinstance(st,(ast.Global,)):
            for g in st.names:
                if g in own: problems.append(f'{path}: global {g}')
    for ln,col,o,n in sorted(set(subs),reverse=True):
        raw=lines[ln-1].encode()
        if raw[col:col+len(o.encode())].decode(errors='replace')!=o: problems.append(f'{path}:{ln}:{col} expected {o}: {lines[ln-1]}'); continue
        lines[ln-1]=(raw[:col]+n.encode()+raw[col+len(o.encode()):]).decode()
    text='\n'.join(lines)
    # words in backticks in docstrings and comments of this file
    here=dict(own)
    for name,x in mp.items():
        if x[0]=='symbol' and name==x[2]:
            n=new_name(x[1],x[2])
            if n: here[name]=n
    if here:
        rx=re.compile(r'`('+'|'.join(re.escape(k) for k in sorted(here,key=len,reverse=True))+r')(\(\))?`')
        text=rx.sub(lambda m:f'`{here[m.group(1)]}{m.group(2) or ""}`',text)
    return text
count=0
inv={p:m for m,p in mods.items()}
out={}
for folder in ('server/lerim','tests','benchmarks','scripts','evals'):
    for p in (REPO/folder).rglob('*.py'):
        x=p.read_text()
        if folder!='server/lerim' and 'lerim' not in x: continue
        y=process(p,x,inv.get(p,'-'))
        if y!=x: out[p]=y
for p,y in out.items():
    try: ast.parse(y)
    except SyntaxError as e: problems.append(f'{p}: broken: {e}'); continue
    if '-n' not in sys.argv: p.write_text(y); count+=1
missing=[k for k in R if k not in used]
print('\n'.join(problems)); print('changed',count,'files; not found:',missing[:20])
